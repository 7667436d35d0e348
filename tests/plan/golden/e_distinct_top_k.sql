SELECT top_k(DISTINCT fd, 3) FROM syscall:read
