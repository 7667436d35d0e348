-- How long openat takes.
SELECT histogram(latency) AS latency FROM syscall:openat
WINDOW TUMBLING 1s
