SELECT top_k(fd, 200) FROM syscall:read WINDOW HOPPING 60s BY 1ms
