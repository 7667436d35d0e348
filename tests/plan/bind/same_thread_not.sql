SELECT count(*) FROM syscall:pread64 WHERE comm = 'a' AND pid + ret > 5 AND 10 / pid > 1
