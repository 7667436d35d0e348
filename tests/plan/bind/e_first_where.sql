SELECT fd FROM t:syscalls:sys_enter_read WHERE first(count) > 3
