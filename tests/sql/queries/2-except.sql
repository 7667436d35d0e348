SELECT key FROM 'names.csv' EXCEPT SELECT k FROM 'events.jsonl'
