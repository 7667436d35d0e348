SELECT time, fd, SUM(count) OVER (PARTITION BY fd, cpu) AS bytes, count(*) OVER () AS n
FROM tracepoint:syscalls:sys_enter_pread64 WHERE count > 0
