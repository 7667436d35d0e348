SELECT count(*) FROM syscall:read WHERE fd < 0 OR -1 = fd OR fd IN (-2, 1) OR fd > 0 OR CAST(fd AS 's32') = -1 OR fd BETWEEN 0 AND 9 OR fd BETWEEN -3 AND 9
