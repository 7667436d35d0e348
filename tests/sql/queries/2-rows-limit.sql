SELECT time, k FROM 'events.jsonl' LIMIT 2 OFFSET 3
