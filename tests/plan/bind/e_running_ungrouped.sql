SELECT n, count(*) FROM (SELECT count(*) OVER () AS n FROM tracepoint:sched:sched_wakeup) AS w
