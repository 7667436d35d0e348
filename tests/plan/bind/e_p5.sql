SELECT p5(latency), p9999(latency), p100(latency) FROM syscall:read
