SELECT time, n FROM 'events.jsonl' WHERE n = (SELECT max(n) FROM 'events.jsonl')
