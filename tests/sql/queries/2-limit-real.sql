SELECT k FROM 'events.jsonl' LIMIT 1.5
