SELECT dev, histogram(latency) FROM block_io GROUP BY dev WINDOW TUMBLING 1s
