SELECT fd, count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE fd < 2 * 3 AND (pid >= 0 OR fd = 1) GROUP BY fd
