SELECT sum(pos / fd), count(pos / fd) FROM tracepoint:syscalls:sys_enter_pread64
