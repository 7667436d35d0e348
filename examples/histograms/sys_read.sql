-- How long read takes.
SELECT histogram(latency) AS latency FROM syscall:read
WINDOW TUMBLING 1s
