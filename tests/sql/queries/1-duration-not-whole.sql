SELECT d FROM 'events.jsonl' WHERE d > 0.5ns
