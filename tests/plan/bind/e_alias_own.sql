SELECT foo + 1 AS foo FROM raw_tracepoint:sched_switch WHERE foo > 1
