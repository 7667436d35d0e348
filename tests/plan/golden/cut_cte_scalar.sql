WITH t AS (SELECT pid, count(*) AS n FROM syscall:read GROUP BY pid) SELECT * FROM t WHERE n > (SELECT avg(n) FROM t) WINDOW TUMBLING 1s
