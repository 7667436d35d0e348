SELECT sum(), min(*), count(1, 2) FROM tracepoint:syscalls:sys_enter_pread64
