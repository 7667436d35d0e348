-- How long interrupt handlers run.
SELECT name, histogram(latency) AS latency FROM irq GROUP BY name
WINDOW TUMBLING 1s
