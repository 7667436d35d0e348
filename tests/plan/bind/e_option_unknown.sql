SET pushing = off; SELECT pid FROM syscall:write
