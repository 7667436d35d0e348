SELECT * FROM tracepoint:sched:sched_switch
