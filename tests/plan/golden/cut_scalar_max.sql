SELECT upper(comm), max(count(*), 3) FROM syscall:read GROUP BY comm WINDOW TUMBLING 1s
