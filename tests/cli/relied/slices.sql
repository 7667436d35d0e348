SELECT max(prev.se.vprot) FROM raw_tracepoint:sched_switch WHERE NOT preempt
