SELECT key FROM 'names.csv' INTERSECT SELECT k FROM 'events.jsonl' ORDER BY key
