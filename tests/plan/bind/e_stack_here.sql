SELECT kstack(0), ustack(5) + 1, count(*) FROM t:sched:sched_switch WHERE kstack = ustack GROUP BY kstack
