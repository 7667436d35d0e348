SELECT * FROM syscall:sendto
