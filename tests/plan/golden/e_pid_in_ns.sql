SELECT pid_in_ns(4, fd) FROM tracepoint:syscalls:sys_enter_read
