SELECT iif(comm, 1, 2) FROM syscall:read
