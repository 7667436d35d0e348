SELECT count(*) FROM syscall:read WHERE time > '2023-11-14'
