SELECT b.time - c.time FROM t:syscalls:sys_exit_read a PAIR JOIN (t:syscalls:sys_enter_read b ASOF JOIN t:sched:sched_switch c ON b.tid = c.next_pid AND b.time >= c.time) ON a.tid = b.tid
