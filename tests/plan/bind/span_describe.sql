DESCRIBE syscall:sendto
