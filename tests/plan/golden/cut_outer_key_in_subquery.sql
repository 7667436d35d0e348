SELECT comm, count(*), (SELECT count(*) FROM syscall:write AS w WHERE w.comm = comm) FROM syscall:read GROUP BY comm WINDOW TUMBLING 1s
