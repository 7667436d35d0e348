SELECT count(*) FROM syscall:read WHERE fd = NULL OR fd <> NULL
