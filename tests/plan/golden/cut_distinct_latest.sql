SELECT DISTINCT pid, fd, latency FROM syscall:read GROUP BY pid WINDOW TUMBLING 1s
