SELECT count(*), p50(a.time - b.time) FROM syscall:read a PAIR JOIN syscall:read b ON a.tid = b.tid
