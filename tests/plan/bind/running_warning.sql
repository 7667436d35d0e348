-- Once a query; not where the frame or the order says that it is meant.
SELECT time, fd, SUM(count) OVER (PARTITION BY fd) AS a, count(*) OVER () AS b,
SUM(count) OVER (ORDER BY time) AS c, SUM(count) OVER (ROWS UNBOUNDED PRECEDING) AS d
FROM tracepoint:syscalls:sys_enter_pread64
