SELECT DISTINCT pid, fd, upper(comm) AS c FROM syscall:read GROUP BY pid
