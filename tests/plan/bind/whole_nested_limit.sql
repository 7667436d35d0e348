SELECT fd FROM (SELECT fd FROM t:syscalls:sys_enter_read LIMIT 1)
