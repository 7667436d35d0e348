SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key WHERE e.key = 6
-- sqlite: SELECT e, b FROM pairs WHERE key = 6 ORDER BY seq
