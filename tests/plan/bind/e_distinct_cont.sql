SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY latency) FROM syscall:read
