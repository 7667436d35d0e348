SELECT histogram(latency, linear(0, 10.5, 1)) FROM syscall:read
