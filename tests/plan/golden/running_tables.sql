SELECT time, SUM(count) OVER (PARTITION BY cpu) AS a, count(*) OVER () AS b,
	SUM(fd) OVER (PARTITION BY comm, iif(fd > 2, fd, NULL)) AS c,
	count(*) OVER (PARTITION BY fd & 7) AS d
FROM tracepoint:syscalls:sys_enter_pread64
