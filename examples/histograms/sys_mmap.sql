-- How long mmap takes.
SELECT histogram(latency) AS latency FROM syscall:mmap
WINDOW TUMBLING 1s
