EXPLAIN ANALYZE SELECT fd, histogram(latency) FROM syscall:read WHERE pid = 7 AND latency > 1ms GROUP BY fd
