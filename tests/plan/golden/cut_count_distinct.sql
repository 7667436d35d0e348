SELECT comm, count(DISTINCT fd), count(*), max(latency) FROM syscall:read GROUP BY comm WINDOW TUMBLING 1s
