SELECT sum(fd) FILTER (WHERE 1.5) FROM t:syscalls:sys_enter_read
