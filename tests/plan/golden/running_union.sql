SELECT cpu, histogram(depth, bounds(1, 2, 5)), max(depth) FROM (
	SELECT time, cpu, SUM(d) OVER (PARTITION BY cpu) AS depth, d FROM (
		SELECT time, target_cpu AS cpu, 1 AS d FROM tracepoint:sched:sched_wakeup
		UNION ALL
		SELECT time, cpu, -1 FROM tracepoint:sched:sched_switch WHERE next_pid <> 0
	) AS u
) AS q WHERE d < 0 GROUP BY cpu
