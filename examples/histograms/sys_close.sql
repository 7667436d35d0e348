-- How long close takes.
SELECT histogram(latency) AS latency FROM syscall:close
WINDOW TUMBLING 1s
