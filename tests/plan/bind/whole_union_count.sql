SELECT count(*) FROM (SELECT pid FROM tracepoint:sched:sched_wakeup UNION ALL SELECT count(*) FROM tracepoint:sched:sched_waking) AS u
