SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e LEFT PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key
-- sqlite: SELECT e.id AS e, p.b FROM ends AS e LEFT JOIN pairs AS p ON p.e = e.id ORDER BY e.rowid
