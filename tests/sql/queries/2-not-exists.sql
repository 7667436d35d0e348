SELECT key FROM 'names.csv' AS t WHERE NOT EXISTS (SELECT 1 FROM 'events.jsonl' AS e WHERE e.k = t.key)
