SELECT fd, fd + 1 AS next, (fd + 1) * 2 AS far, pid FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY (fd + 1) * 2, fd + 1, fd, pid, pid, pid & 3, count / fd, fd HAVING next > 3
