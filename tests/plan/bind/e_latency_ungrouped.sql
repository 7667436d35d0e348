SELECT latency, count(*) FROM syscall:read
