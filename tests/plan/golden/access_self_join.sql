SELECT count(*), p50(a.time - b.time) FROM tracepoint:sched:sched_switch a PAIR JOIN tracepoint:sched:sched_switch b ON a.cpu = b.cpu WHERE b.prev_prio >= 0
