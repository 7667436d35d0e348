SELECT pid, (SELECT max(x) FROM (SELECT 1 AS x UNION SELECT 2) AS y) AS n FROM raw_tracepoint:sched_switch LIMIT 3
