SELECT a.tid, b.time IS NULL, coalesce(b.fd, 7), b.fd + 1, b.fd > 3 OR b.time IS NULL
FROM tracepoint:syscalls:sys_exit_pread64 AS a
ASOF LEFT JOIN tracepoint:syscalls:sys_enter_pread64 AS b ON a.tid = b.tid AND a.time >= b.time
