SELECT count(*) FROM raw_tracepoint:sched_switch a PAIR JOIN tracepoint:sched:sched_switch b ON a.cpu = b.cpu
