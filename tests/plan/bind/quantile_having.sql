SELECT pid, p99(latency) AS q FROM syscall:read GROUP BY pid HAVING q > 1ms AND quantile_lo(latency, 0.9) > 1us ORDER BY q DESC LIMIT 3
