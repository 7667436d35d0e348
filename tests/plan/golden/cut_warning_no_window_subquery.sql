SELECT pid, (SELECT max(fd) FROM t:syscalls:sys_enter_read) AS m FROM t:syscalls:sys_enter_pread64 WHERE pid IN (SELECT max(count) FROM t:syscalls:sys_enter_write)
