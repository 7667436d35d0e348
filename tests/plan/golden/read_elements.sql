SELECT args[0], args[id % 8] AS x, prev.thread_pid.numbers[0].nr AS pid, prev.comm[0] AS first
FROM tracepoint:raw_syscalls:sys_enter AS e ASOF JOIN raw_tracepoint:sched_switch AS s ON e.cpu = s.cpu AND e.time >= s.time
