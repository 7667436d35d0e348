SELECT current.pid, pid, count(*) FROM tracepoint:sched:sched_wakeup GROUP BY current.pid, pid
