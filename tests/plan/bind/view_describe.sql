-- Reads that moved something.
CREATE VIEW reads AS SELECT fd, ret, latency / 1us AS us, cpu FROM syscall:read WHERE ret > 0;
DESCRIBE reads
