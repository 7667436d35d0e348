-- biolatency, per disk and operation
SELECT dev, rwbs, histogram(latency) FROM block_io GROUP BY dev, rwbs WINDOW TUMBLING 1s;
