SELECT count(*) FROM tracepoint:sched:sched_switch AS s PAIR JOIN tracepoint:sched:sched_wakeup AS w ON s.next_pid = w.pid WITH (max_cpu = '0.5%', over_budget = 'sample')
