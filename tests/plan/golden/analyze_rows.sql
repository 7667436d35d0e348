EXPLAIN ANALYZE SELECT pid, latency FROM syscall:fsync WHERE latency > 10ms
