SELECT fd, histogram(latency) FROM syscall:pread64 WHERE pid = 7 AND latency > 1us GROUP BY fd
