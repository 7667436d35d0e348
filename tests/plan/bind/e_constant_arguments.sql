SELECT ntile(cpu) OVER (), nth_value(fd, count) OVER (), group_concat(DISTINCT comm, ',') FROM syscall:read
