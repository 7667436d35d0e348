SELECT ret FROM t:syscalls:sys_exit_read UNION ALL SELECT count FROM t:syscalls:sys_enter_write
