SELECT count(*) FROM syscall:read WHERE usym(buf) = 'a' OR usym(buf) LIKE 'b%' OR usym(buf) IN ('c', 'd')
