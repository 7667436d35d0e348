SELECT k, n FROM (SELECT comm AS k, sum(1) OVER (PARTITION BY probe, probe, comm, probe) AS n FROM tracepoint:sched:sched_switch) AS r
