SELECT fd FROM t:syscalls:sys_enter_read UNION ALL SELECT fd FROM t:syscalls:sys_enter_write ORDER BY fd
