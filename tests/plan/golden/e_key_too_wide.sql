SELECT count(*) FROM tracepoint:sched:sched_process_exec GROUP BY filename, comm, filename = 'a', filename, comm, filename, comm, filename, filename, filename, filename
