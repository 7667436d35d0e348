SELECT count(*) FROM 'events.jsonl' WINDOW TUMBLING 0s
