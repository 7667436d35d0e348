SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e ASOF LEFT JOIN 'begins.jsonl' AS b ON e.key = b.key AND e.time >= b.time
-- sqlite: SELECT e.id AS e, (SELECT id FROM begins AS b WHERE b.key = e.key AND b.time <= e.time ORDER BY b.time DESC LIMIT 1) AS b FROM ends AS e ORDER BY e.rowid
