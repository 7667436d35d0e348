SELECT fd, count(*), max(latency), min(ret) FROM syscall:fsync GROUP BY fd
