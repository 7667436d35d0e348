SELECT conut(*) FROM tracepoint:syscalls:sys_enter_pread64
