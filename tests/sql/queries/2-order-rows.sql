SELECT time, n FROM 'events.jsonl' WHERE n IS NOT NULL ORDER BY n, time LIMIT 5
