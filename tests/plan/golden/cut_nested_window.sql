SELECT max(n) FROM (SELECT count(*) AS n FROM syscall:read GROUP BY pid WINDOW TUMBLING 1s)
