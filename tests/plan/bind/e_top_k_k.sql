SELECT top_k(comm, 1001) FROM t:syscalls:sys_enter_read
