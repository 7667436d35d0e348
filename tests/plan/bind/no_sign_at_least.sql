SELECT count(*) FROM syscall:read WHERE fd >= 0 AND count >= 0 AND cpu >= 0
