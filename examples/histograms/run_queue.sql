-- How long threads that could run wait for a CPU.
SELECT histogram(latency) AS latency FROM run_queue
WINDOW TUMBLING 1s
