SELECT a.cpu, (SELECT max(n) FROM (SELECT pid, count(*) AS n FROM syscall:write AS b WHERE b.cpu = a.cpu GROUP BY pid) AS u) AS w FROM syscall:read AS a GROUP BY a.cpu
