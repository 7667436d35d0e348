SELECT count(*) FROM (SELECT time FROM tracepoint:sched:sched_switch WHERE 1 = 2 UNION ALL SELECT time FROM tracepoint:sched:sched_waking)
