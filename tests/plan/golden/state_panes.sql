SELECT top_k(fd, 3) FROM syscall:read WINDOW HOPPING 60s BY 1ms
