SELECT upper(comm), count(*), quantile(latency, 0.99) FROM syscall:read WHERE fd > 2 AND upper(comm) LIKE 'A%' GROUP BY 1 WINDOW TUMBLING 1s HAVING count(*) > 2 ORDER BY 2 DESC LIMIT 3
