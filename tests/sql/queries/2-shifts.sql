SELECT n << -1 AS a, n >> -1 AS b, n << 64 AS c, n >> 64 AS d, n >> 1 AS e FROM 'events.jsonl' WHERE n IS NOT NULL LIMIT 6
