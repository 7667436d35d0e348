SELECT rank() FROM syscall:read
