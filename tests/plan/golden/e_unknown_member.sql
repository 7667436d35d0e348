SELECT next.comn FROM raw_tracepoint:sched_switch
