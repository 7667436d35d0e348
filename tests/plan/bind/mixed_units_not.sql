SELECT histogram(latency, linear(0, 10ms, 100us)), p99(latency, bounds(1000, 2000)), histogram(count, bounds(0, 4KiB)) FROM syscall:read
