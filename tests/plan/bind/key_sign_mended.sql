SELECT k, count(*) FROM (SELECT ret AS k FROM syscall:read UNION ALL SELECT count & 0x7fffffffffffffff AS k FROM syscall:read) AS u GROUP BY k
