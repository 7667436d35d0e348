SELECT stddev(comm) FROM t:syscalls:sys_enter_read
