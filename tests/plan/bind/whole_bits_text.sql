SELECT upper(comm), bit_xor(comm) FROM syscall:read GROUP BY 1
