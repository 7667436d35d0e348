SELECT pid, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM syscall:read GROUP BY pid WINDOW TUMBLING 1s HAVING n > 1 ORDER BY r
