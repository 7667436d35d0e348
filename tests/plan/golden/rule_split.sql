SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE (fd > 3 AND count > 10) AND (pid = 7 AND 1)
