-- How long write takes.
SELECT histogram(latency) AS latency FROM syscall:write
WINDOW TUMBLING 1s
