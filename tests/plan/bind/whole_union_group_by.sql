SELECT pid FROM tracepoint:sched:sched_wakeup UNION ALL SELECT pid FROM tracepoint:sched:sched_waking GROUP BY pid
