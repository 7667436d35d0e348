SELECT * FROM 'ends.jsonl' WHERE key = 1
