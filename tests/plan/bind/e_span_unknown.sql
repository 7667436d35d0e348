SELECT count(*) FROM syscall:pread46
