SELECT quantile(iif(comm, 1, 2), 0.5) FROM syscall:read
