SELECT 1 FROM t:syscalls:sys_exit_read x PAIR JOIN t:syscalls:sys_enter_read e ON x.ret = e.count
