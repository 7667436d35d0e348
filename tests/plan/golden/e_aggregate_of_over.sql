SELECT max(sum(a.fd) OVER ()) FROM syscall:read AS a JOIN syscall:write AS b ON a.tid = b.tid WINDOW TUMBLING 1s
