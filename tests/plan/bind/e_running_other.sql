SELECT time, lag(pid) OVER (PARTITION BY target_cpu), SUM(DISTINCT pid) OVER () FROM tracepoint:sched:sched_wakeup
