SELECT comm, pid FROM syscall:read WHERE upper(comm) = 'A' AND fd = 3 LIMIT 5
