SELECT SUM(1) OVER (PARTITION BY 1, 2, 3, 4, 5, 6, 7) FROM tracepoint:sched:sched_wakeup
