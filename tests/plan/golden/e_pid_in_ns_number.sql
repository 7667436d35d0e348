SELECT pid_in_ns(4, 4294967296) FROM tracepoint:syscalls:sys_enter_read
