SELECT sym(prev) AS f, count(*) AS n FROM raw_tracepoint:sched_switch GROUP BY sym(prev) WINDOW COUNT 50
