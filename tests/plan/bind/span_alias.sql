SELECT c.fd, c.latency, c.tid, c.current FROM syscall:pread64 AS c
