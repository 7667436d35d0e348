SELECT histogram(DISTINCT latency) FROM syscall:read
