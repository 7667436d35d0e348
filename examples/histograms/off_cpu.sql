-- How long threads are not on a CPU.
SELECT histogram(latency) AS latency FROM off_cpu
WINDOW TUMBLING 1s
