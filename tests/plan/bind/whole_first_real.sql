SELECT first(1.5) FROM t:syscalls:sys_enter_read
