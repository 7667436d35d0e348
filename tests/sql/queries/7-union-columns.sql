SELECT k, n FROM 'events.jsonl' UNION SELECT key FROM 'names.csv'
