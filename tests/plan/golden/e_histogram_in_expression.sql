SELECT h IS NULL FROM (SELECT histogram(fd) AS h FROM syscall:read) WINDOW TUMBLING 1s
