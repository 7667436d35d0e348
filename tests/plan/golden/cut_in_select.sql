SELECT pid, count(*) AS n FROM syscall:read WHERE pid IN (SELECT pid FROM (SELECT pid, count(*) AS k FROM syscall:write GROUP BY pid HAVING k > 5)) GROUP BY pid WINDOW TUMBLING 1s
