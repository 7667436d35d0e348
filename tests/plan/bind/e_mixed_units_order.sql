SELECT histogram(latency, bounds(1ms, 2)) FROM syscall:read
