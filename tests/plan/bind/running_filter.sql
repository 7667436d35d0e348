SELECT SUM(count) FILTER (WHERE fd > 2) OVER (PARTITION BY comm) AS a,
	count(nullif(fd, 3)) OVER (PARTITION BY comm) AS b,
	count(fd) FILTER (WHERE fd > 2) OVER () AS c,
	SUM(count) FILTER (WHERE fd > 2) OVER (PARTITION BY comm) + 1 AS again
FROM tracepoint:syscalls:sys_enter_read
