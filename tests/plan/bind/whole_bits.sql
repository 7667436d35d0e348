SELECT upper(comm), bit_and(fd), bit_xor(DISTINCT fd) FROM syscall:read GROUP BY 1
