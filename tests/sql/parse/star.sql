SELECT *, s.* FROM t:sched:sched_switch AS s
