SELECT a.pid, b.fd FROM syscall:read AS a JOIN syscall:write AS b ON a.tid = b.tid AND b.time > a.time WHERE a.fd > 2 AND b.count > 10 WINDOW TUMBLING 1s
