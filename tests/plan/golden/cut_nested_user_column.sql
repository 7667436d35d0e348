SELECT u, count(*) FROM (SELECT upper(comm) AS u FROM syscall:read) AS q WHERE length(u) > 2 GROUP BY u WINDOW TUMBLING 1s
