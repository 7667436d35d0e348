SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e ASOF JOIN 'begins.jsonl' AS b ON e.key = b.key AND e.time >= b.time WITHIN 20ms
-- sqlite: SELECT e, b FROM (SELECT e.rowid AS r, e.id AS e, (SELECT id FROM begins AS b WHERE b.key = e.key AND b.time BETWEEN e.time - 20000000 AND e.time ORDER BY b.time DESC LIMIT 1) AS b FROM ends AS e) WHERE b IS NOT NULL ORDER BY r
