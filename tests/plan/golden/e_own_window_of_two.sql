SELECT a.pid FROM syscall:read AS a JOIN syscall:write AS b ON a.pid = b.pid WINDOW SESSION (GAP 1s)
