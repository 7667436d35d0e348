SELECT fd, sum(count) AS s FROM syscall:read GROUP BY fd HAVING count(*) < 0 OR s = -1 OR fd < 0 OR count(*) >= 0
