SELECT latency FROM (SELECT latency, pid, ret FROM syscall:pread64 WHERE ret > 0) WHERE pid IN (1, 2, 3)
