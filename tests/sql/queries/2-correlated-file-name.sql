SELECT key FROM 'names.csv' WHERE EXISTS (SELECT 1 FROM 'ends.jsonl' AS b WHERE b.key = "names.csv".key)
