SELECT k, count(*) FROM (SELECT ret AS k FROM syscall:read UNION ALL SELECT count AS k FROM syscall:read) AS u GROUP BY k
