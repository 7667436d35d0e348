SELECT fd, count(*) FROM syscall:* GROUP BY fd
