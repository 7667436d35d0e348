SELECT min(fd, count), max(count, 7) AS m FROM tracepoint:syscalls:sys_enter_pread64
