SELECT count(*) FROM syscall:read WHERE latency > 10 AND 0 < latency AND latency NOT BETWEEN 1.5 AND 3ms
