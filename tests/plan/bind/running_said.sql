SELECT time, SUM(count) OVER (ORDER BY time) AS c, count(*) OVER (PARTITION BY fd ROWS UNBOUNDED PRECEDING) AS d
FROM tracepoint:syscalls:sys_enter_pread64
