SELECT percentile_cont(0.5, linear(0, 1000, 10)) WITHIN GROUP (ORDER BY fd) FROM syscall:read
