SELECT nr, max(latency) FROM syscall:vfor* GROUP BY nr
