SELECT histogram(fd, linear(0s, 1s, 100ms)) FROM syscall:read
