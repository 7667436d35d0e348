-- How long block devices take for a request.
SELECT dev, histogram(latency) AS latency FROM block_io GROUP BY dev
WINDOW TUMBLING 1s
