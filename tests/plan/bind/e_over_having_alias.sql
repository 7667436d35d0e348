SELECT fd, row_number() OVER (ORDER BY fd) AS r, count(*) AS n FROM syscall:read GROUP BY fd HAVING r < 2
