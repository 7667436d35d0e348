SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e PAIR JOIN (SELECT time, key, id FROM 'begins.jsonl' WHERE prio = 120) AS b ON e.key = b.key WHERE b.id > 'b2'
-- sqlite: SELECT e, b FROM pairs_120 WHERE b > 'b2' ORDER BY seq
