-- syscall latency per process, ladder with bounds
SELECT pid, comm, count(*) AS n, quantiles(latency, 0.5, 0.99, 0.999) FROM syscall:sendto
GROUP BY pid, comm WINDOW TUMBLING 1s HAVING n > 100 ORDER BY n DESC;
