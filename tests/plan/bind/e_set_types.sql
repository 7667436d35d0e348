SELECT count(*) FROM syscall:read UNION ALL SELECT comm FROM syscall:write GROUP BY comm
