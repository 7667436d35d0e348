SELECT count(*) FROM tracepoint:sched:sched_switch AS a PAIR JOIN tracepoint:sched:sched_wakeup AS b ON a.tid = b.prio AND a.prev_prio = b.tid WITH (max_cpu = '1%', over_budget = 'sample')
