SELECT a FROM (SELECT a FROM (SELECT fd AS a FROM t:syscalls:sys_enter_read UNION ALL SELECT ret FROM t:syscalls:sys_exit_read) UNION ALL SELECT ret FROM t:syscalls:sys_exit_write)
