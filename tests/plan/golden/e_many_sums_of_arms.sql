SELECT time, count(*) OVER (PARTITION BY a), count(*) OVER (PARTITION BY b), count(*) OVER (PARTITION BY a + b), count(*) OVER (PARTITION BY a * 3), count(*) OVER (PARTITION BY b * 3), count(*) OVER (PARTITION BY a * 7), count(*) OVER (PARTITION BY a + 7)
FROM (
SELECT time, next_pid + 0 AS a, prev_pid AS b FROM tracepoint:sched:sched_switch UNION ALL
SELECT time, next_pid + 1 AS a, prev_pid AS b FROM tracepoint:sched:sched_switch UNION ALL
SELECT time, next_pid + 2 AS a, prev_pid AS b FROM tracepoint:sched:sched_switch UNION ALL
SELECT time, next_pid + 3 AS a, prev_pid AS b FROM tracepoint:sched:sched_switch) AS u
