SELECT top_k(comm) FROM t:syscalls:sys_enter_read
