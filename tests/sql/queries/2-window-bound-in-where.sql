SELECT count(*) FROM 'events.jsonl' WHERE window_start > 0 WINDOW TUMBLING 1s
