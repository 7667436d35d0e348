SELECT histogram(n) FROM (SELECT avg(fd) AS n FROM syscall:read GROUP BY pid) WINDOW TUMBLING 1s
