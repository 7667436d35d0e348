SET pushdown = off; SELECT pid, count(*), quantiles(latency, 0.5, 0.99), sum(latency + 1) FROM syscall:read WHERE fd > 2 GROUP BY pid WINDOW TUMBLING 1s
