SELECT k, max(l) FROM (SELECT 1 AS k, latency AS l FROM syscall:read UNION ALL SELECT 2, latency FROM syscall:write) GROUP BY k
