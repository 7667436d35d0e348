SELECT (window_end - window_start) / 1ms AS ms, max(time) < window_end AS inside, min(time) >= window_start AS behind FROM 'events.jsonl' WINDOW TUMBLING 5s
