SELECT e.k, e.n FROM 'events.jsonl' AS e WHERE e.cpu = 2 AND e.n < 0
