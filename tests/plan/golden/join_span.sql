SELECT pid, comm, count(*), histogram(latency), p99(latency) FROM syscall:pread64 WHERE pid = 7 GROUP BY pid, comm WINDOW TUMBLING 1s
