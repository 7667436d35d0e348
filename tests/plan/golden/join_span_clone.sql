SELECT count(*), p99(latency) FROM syscall:clone
