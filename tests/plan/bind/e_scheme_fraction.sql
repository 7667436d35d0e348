SELECT histogram(latency, exponential(1.5)) FROM syscall:read
