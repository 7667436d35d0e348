SELECT 1 FROM t:syscalls:sys_exit_read x JOIN t:syscalls:sys_enter_read e ON x.tid = e.tid
