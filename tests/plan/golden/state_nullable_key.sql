SELECT pos / fd, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY 1
