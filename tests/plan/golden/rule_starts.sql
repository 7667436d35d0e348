SELECT a.n, b.slowest
FROM (SELECT count(*) AS n FROM syscall:pread64) AS a
CROSS JOIN (SELECT max(latency) AS slowest, fd FROM syscall:pread64 WHERE ret < 0 GROUP BY fd) AS b
WINDOW TUMBLING 1s
