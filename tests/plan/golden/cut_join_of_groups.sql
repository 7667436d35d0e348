SELECT a.pid, a.n, b.m FROM (SELECT pid, count(*) AS n FROM syscall:read GROUP BY pid) AS a JOIN (SELECT pid, count(*) AS m FROM syscall:write GROUP BY pid) AS b ON a.pid = b.pid WINDOW TUMBLING 1s
