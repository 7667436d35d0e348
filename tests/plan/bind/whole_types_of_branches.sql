SELECT iif(count(*) > 1, 7, max(fd = 1)) AS i, CASE WHEN count(*) > 3 THEN max(latency) ELSE 0 END AS d, coalesce(max(latency), count(*)) AS n FROM syscall:read
