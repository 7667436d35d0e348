SELECT comm, count(*) FROM tracepoint:sched:sched_switch GROUP BY comm
