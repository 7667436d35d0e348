SELECT next_pid, comm, time - w.time AS delay, current.pid FROM t:sched:sched_switch s PAIR JOIN t:sched:sched_wakeup w ON s.next_pid = w.pid
