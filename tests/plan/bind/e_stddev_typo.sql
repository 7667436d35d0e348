SELECT stddve(count) FROM t:syscalls:sys_enter_read
