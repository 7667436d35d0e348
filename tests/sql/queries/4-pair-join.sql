SELECT e.id AS e, b.id AS b, e.time - b.time AS took FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key
-- sqlite: SELECT e, b, took FROM pairs ORDER BY seq
