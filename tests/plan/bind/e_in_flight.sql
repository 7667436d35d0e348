SELECT count(*) FROM syscall:read WITH (max_in_flight = 0, edge = middle)
