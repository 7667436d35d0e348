SET pushdown = off; EXPLAIN ANALYZE SELECT count(*) FROM syscall:fsync WHERE latency > 10ms
