SELECT preempt, count(*) FROM raw_tracepoint:sched_switch GROUP BY preempt
