SELECT prev.pid, prev.prev.pid, prev.preempt FROM raw_tracepoint:sched_switch AS prev
