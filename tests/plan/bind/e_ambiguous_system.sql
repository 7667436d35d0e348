SELECT pid FROM syscall:read AS a JOIN syscall:write AS b ON a.tid = b.tid
