SELECT SUM(1) OVER (PARTITION BY target_cpu ORDER BY pid) FROM tracepoint:sched:sched_wakeup
