SELECT syscall_name(nr) AS name, count(*), sum(latency) FROM syscall:* GROUP BY name ORDER BY name
