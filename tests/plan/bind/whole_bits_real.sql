SELECT bit_or(count / 1.5) FROM syscall:read
