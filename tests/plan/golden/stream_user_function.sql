SELECT upper(comm), fd + 1 FROM tracepoint:syscalls:sys_enter_pread64
