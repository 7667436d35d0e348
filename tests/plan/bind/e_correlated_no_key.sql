SELECT a.cpu, (SELECT count(*) FROM syscall:write AS b WHERE b.fd = a.fd) AS w FROM syscall:read AS a GROUP BY a.cpu
