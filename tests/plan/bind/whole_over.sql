SELECT cpu, n, rank() OVER (ORDER BY n DESC) AS r, lag(n, 1, 0) OVER (PARTITION BY cpu ORDER BY n) AS before FROM (SELECT cpu, pid, count(*) AS n FROM syscall:read GROUP BY cpu, pid) AS g
