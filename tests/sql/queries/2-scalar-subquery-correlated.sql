SELECT key, name, (SELECT count(*) FROM 'events.jsonl' AS e WHERE e.k = t.key) AS n FROM 'names.csv' AS t ORDER BY key
