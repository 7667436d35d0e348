SELECT count(*) FROM t:syscalls:sys_enter_read WHERE iif(fd = 1, comm, 2) = 'x'
