SELECT fd FROM t:syscalls:sys_enter_read UNION ALL SELECT comm FROM t:syscalls:sys_enter_write
