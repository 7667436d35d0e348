SELECT a.latency FROM syscall:read AS a ASOF JOIN tracepoint:sched:sched_switch AS b ON a.tid = b.next_pid AND a.time >= b.time WITHIN 10ms
