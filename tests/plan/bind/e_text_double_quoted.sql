SELECT count(*) FROM syscall:read WHERE comm IN ('a', "nginx") AND comm LIKE "ng%"
