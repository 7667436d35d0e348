SELECT * FROM (SELECT 'r' AS k, count(*) AS n FROM syscall:read UNION ALL SELECT 'w', count(*) FROM syscall:write) AS u
