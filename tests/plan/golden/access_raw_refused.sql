SET access_path = raw; SELECT prev_comm, count(*) FROM tracepoint:sched:sched_switch GROUP BY prev_comm
