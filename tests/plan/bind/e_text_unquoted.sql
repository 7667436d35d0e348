SELECT count(*) FROM syscall:read WHERE comm = nginx
