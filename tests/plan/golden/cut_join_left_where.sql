SELECT a.pid, b.fd FROM syscall:read AS a LEFT JOIN syscall:write AS b ON a.tid = b.tid WHERE b.count IS NULL WINDOW TUMBLING 1s
