SELECT time, fd FROM t:syscalls:sys_enter_read UNION ALL SELECT time, fd FROM t:syscalls:sys_enter_write LIMIT 5
