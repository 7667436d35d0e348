SELECT count(*) FROM 'negative-time.jsonl' WINDOW TUMBLING 1s
