SELECT count(*) FROM syscall:pread
