SELECT max(n) FROM (SELECT pid, count(*) AS n FROM syscall:read GROUP BY pid WINDOW TUMBLING 1s) AS u
