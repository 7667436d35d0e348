SELECT b.probe, count(*) FROM tracepoint:sched:sched_switch a LEFT PAIR JOIN tracepoint:sched:sched_wak* b ON a.tid = b.tid GROUP BY b.probe
