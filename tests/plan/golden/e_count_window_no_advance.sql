SELECT count(*) FROM syscall:read WINDOW(count, 10, 0)
