SELECT CAST(prev AS 's64') AS e, count(*) FROM raw_tracepoint:sched_switch WHERE prev < 0 OR e < 0 GROUP BY e
