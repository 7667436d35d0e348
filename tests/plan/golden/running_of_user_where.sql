SELECT max(n) FROM (SELECT sum(fd) OVER (PARTITION BY pid) AS n FROM syscall:read WHERE upper(comm) = 'A')
