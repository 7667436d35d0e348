SELECT r, r * 2 AS twice, n FROM 'events.jsonl' WHERE r > 3.5
