SELECT pid, comm, count(*) AS n, max(latency) FROM syscall:pread64 GROUP BY pid, comm HAVING n > 10
