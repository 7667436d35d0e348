SELECT a.n, b.n FROM (SELECT count(*) AS n FROM syscall:read) AS a, (SELECT count(*) AS n FROM syscall:read) AS b WINDOW TUMBLING 1s
