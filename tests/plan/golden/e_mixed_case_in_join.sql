SELECT CASE WHEN a.fd = 1 THEN a.comm ELSE b.fd END FROM syscall:read AS a JOIN syscall:write AS b ON a.tid = b.tid WINDOW TUMBLING 1s ORDER BY 1
