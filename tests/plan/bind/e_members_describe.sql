DESCRIBE raw_tracepoint:sched_switch.prev.comm;
DESCRIBE raw_tracepoint:sched_switch.preempt;
DESCRIBE rt:sched_switch.prev.thread_pidd;
DESCRIBE rt:sched_switch.previ
