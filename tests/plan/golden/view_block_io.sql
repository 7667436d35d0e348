SELECT dev, rwbs, sum(bytes), histogram(latency), p99(queue_time) FROM block_io GROUP BY dev, rwbs WINDOW TUMBLING 1s
