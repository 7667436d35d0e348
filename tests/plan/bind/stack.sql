SELECT kstack AS k, ustack(5), count(*), count(DISTINCT kstack(2)) FROM t:sched:sched_switch GROUP BY k, ustack(5)
