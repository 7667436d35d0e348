SELECT max(n) FROM (SELECT pid, pid + 1 AS p, count(*) AS n FROM syscall:read WHERE fd > 1 + 2 AND pid = 7 GROUP BY pid, pid + 1) AS u WHERE n > 2 * 3
