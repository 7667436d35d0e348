SET pushdown = off; SELECT pid FROM syscall:read LIMIT 3 OFFSET 2
