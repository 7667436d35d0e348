SELECT fd FROM t:syscalls:sys_enter_read UNION SELECT fd FROM t:syscalls:sys_enter_write
