SELECT key FROM 'ends.jsonl' WHERE key IN (SELECT name FROM 'names.csv')
