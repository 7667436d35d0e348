SELECT r.fd, s.next_comm FROM t:syscalls:sys_enter_read r ASOF JOIN t:sched:sched_switch s ON r.tid = s.next_pid AND s.time <= r.time
