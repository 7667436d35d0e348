-- catalog kernel-6.12
SELECT rwbs, error, histogram(latency) FROM block_io GROUP BY rwbs, error WINDOW TUMBLING 1s
