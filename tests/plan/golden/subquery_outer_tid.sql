SELECT pid, (SELECT count(*) FROM syscall:write AS b WHERE b.tid = a.pid + 1) AS n FROM syscall:read AS a GROUP BY pid, pid + 1
