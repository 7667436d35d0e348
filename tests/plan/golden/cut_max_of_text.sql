SELECT max(comm) FROM tracepoint:syscalls:sys_enter_pread64
