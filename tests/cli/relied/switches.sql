SELECT prev_comm, prev_state, ppid, count(*) FROM tracepoint:sched:sched_switch GROUP BY 1, 2, 3
