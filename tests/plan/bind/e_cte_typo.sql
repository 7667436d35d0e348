WITH slow_reads AS (SELECT fd FROM syscall:read WHERE latency > 1ms) SELECT count(*) FROM slow_raeds
