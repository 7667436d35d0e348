SELECT a.cpu, max(a.fd), (SELECT count(*) FROM syscall:write AS b WHERE b.cpu = a.cpu) AS w FROM syscall:read AS a GROUP BY a.cpu
