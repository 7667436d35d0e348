SELECT sym(prev) AS f, count(*) OVER (PARTITION BY sym(prev)) AS n FROM raw_tracepoint:sched_switch
