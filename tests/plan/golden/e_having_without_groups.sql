SELECT a.pid FROM syscall:read AS a JOIN syscall:write AS b ON a.tid = b.tid WINDOW TUMBLING 1s HAVING a.pid > 1
