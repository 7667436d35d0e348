SELECT latency, time - start_time AS same FROM 'reads.jsonl' WHERE time - start_time <> latency OR count = 100
