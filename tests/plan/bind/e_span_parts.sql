SELECT count(*) FROM syscall:a:b
