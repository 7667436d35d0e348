SELECT pid_in_ns(1, 2) FROM tracepoint:sched:sched_switch
