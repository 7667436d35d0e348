SELECT pid, count(*) FROM syscall:read WHERE pid = (SELECT pid, fd FROM syscall:write) GROUP BY pid WINDOW TUMBLING 1s
