SELECT pid, count(*) FROM syscall:read GROUP BY pid WINDOW COUNT (SIZE 1000 PER CPU)
