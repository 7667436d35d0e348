SELECT sum(bytes) AS bytes FROM syscall:read ORDER BY bytes
