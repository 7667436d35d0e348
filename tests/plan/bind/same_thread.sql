SELECT count(*) FROM syscall:pread64 WHERE pid = 42 AND latency > 1ms AND tid <> 43 AND fd > 2
