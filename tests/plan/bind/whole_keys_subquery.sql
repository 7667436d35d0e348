SELECT pid, pid + 1 AS p, (SELECT count(*) FROM syscall:write AS b WHERE b.pid = a.pid + 1) FROM syscall:read AS a GROUP BY pid, pid + 1
