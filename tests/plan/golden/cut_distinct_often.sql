WITH a AS (SELECT DISTINCT comm, 1 AS x FROM raw_tracepoint:sched_switch)
SELECT count(*) AS n FROM a AS a0 JOIN a AS a1 ON a1.comm = a0.comm JOIN a AS a2 ON a2.comm = a0.comm JOIN a AS a3 ON a3.comm = a0.comm JOIN a AS a4 ON a4.comm = a0.comm
