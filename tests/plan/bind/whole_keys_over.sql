SELECT pid, pid + 1 AS p, count(*), rank() OVER (ORDER BY pid + 1) FROM syscall:read GROUP BY pid, pid + 1
