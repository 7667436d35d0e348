SELECT pid, row_number() FROM syscall:read
