SELECT e.id AS e, b.id AS b, b.prio FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key AND b.prio = 120
-- sqlite: SELECT e, b, 120 AS prio FROM pairs_120 ORDER BY seq
