SELECT count(*), p50(a.time - b.time) FROM tracepoint:sched:sched_switch a PAIR JOIN tracepoint:sched:sched_* b ON a.cpu = b.cpu WHERE a.prev_prio >= 0
