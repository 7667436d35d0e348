SELECT time, id FROM 'begins.jsonl' WHERE key = 1 UNION ALL SELECT time, id FROM 'ends.jsonl' WHERE key = 1 ORDER BY time
