SELECT key FROM 'names.csv' AS t WHERE EXISTS (SELECT 1 FROM 'events.jsonl' AS e WHERE e.k = t.key AND e.n > 45) ORDER BY key
