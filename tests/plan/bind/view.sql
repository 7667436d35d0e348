-- Reads that moved
-- something.
CREATE VIEW reads AS SELECT fd, ret, latency FROM syscall:read WHERE ret > 0;
CREATE VIEW slow AS SELECT fd AS descriptor, latency FROM reads WHERE latency > 1ms;
SELECT descriptor, count(*) FROM slow GROUP BY descriptor
