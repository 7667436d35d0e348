SELECT syscall_name(nr) AS name, count(*) AS n, max(latency) FROM syscall:* GROUP BY name HAVING n > 1 ORDER BY n DESC
