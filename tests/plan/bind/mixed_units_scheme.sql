SELECT histogram(latency, bounds(1, 2ms)) FROM syscall:read
