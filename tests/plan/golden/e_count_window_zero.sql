SELECT count(*) FROM syscall:read WINDOW COUNT (SIZE 0)
