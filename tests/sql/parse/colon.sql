SELECT tracepoint:sched:sched_switch FROM s
