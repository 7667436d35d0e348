SELECT top_k(comm, 5) + 1 FROM t:syscalls:sys_enter_read
