SELECT approx_count_distinct(comm, 17) FROM t:syscalls:sys_enter_read
