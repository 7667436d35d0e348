SELECT time, key, count(*) OVER (PARTITION BY key) AS nth FROM 'ends.jsonl' WHERE key < 3
-- sqlite: SELECT time, key, count(*) OVER (PARTITION BY key ORDER BY time) AS nth FROM ends WHERE key < 3 ORDER BY time
