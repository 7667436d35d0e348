SELECT count(pid_in_ns(4, 4026532177)) FROM tracepoint:sched:sched_switch AS a, tracepoint:sched:sched_wakeup AS b
WHERE a.next_pid = b.pid WINDOW TUMBLING 1s
