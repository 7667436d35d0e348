SELECT DISTINCT k FROM 'events.jsonl' WHERE k NOT IN (SELECT key FROM 'names.csv')
