SELECT r.fd, s.next_comm, r.time - s.time FROM t:syscalls:sys_enter_read r ASOF LEFT JOIN t:sched:sched_switch s ON r.tid = s.next_pid AND r.time >= s.time WITH (max_in_flight = 100)
