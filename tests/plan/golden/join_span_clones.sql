SELECT nr, max(latency) FROM syscall:clone* WHERE pid = 7 GROUP BY nr
