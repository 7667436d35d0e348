SELECT pid, histogram(latency) FROM syscall:read GROUP BY pid WITH (max_groups = 16384)
