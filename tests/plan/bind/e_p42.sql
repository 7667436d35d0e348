SELECT p42(latency) FROM syscall:read
