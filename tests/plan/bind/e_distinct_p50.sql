SELECT p50(DISTINCT latency) FROM syscall:read
