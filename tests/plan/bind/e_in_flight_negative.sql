SET max_in_flight = -5;
SELECT count(*) FROM syscall:read
