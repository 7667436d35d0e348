SELECT coalesce(comm, fd) FROM t:syscalls:sys_enter_read
