SELECT next.mm.owner.pid, sum(next.prio) FILTER (WHERE preempt)
FROM raw_tracepoint:sched_switch WHERE next.flags <> 0 GROUP BY next.mm.owner.pid
