SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 JOIN tracepoint:sched:sched_switch ON 1
