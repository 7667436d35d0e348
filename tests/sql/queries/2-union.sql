SELECT k FROM 'events.jsonl' UNION SELECT key FROM 'names.csv' ORDER BY 1
