SELECT pid, count(*) FROM tracepoint:syscalls:sys_enter_vfork GROUP BY pid
