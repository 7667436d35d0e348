SELECT e.id AS e, count(b.id) AS m FROM 'ends.jsonl' AS e LEFT JOIN 'begins.jsonl' AS b ON e.key = b.key WINDOW TUMBLING 500ms GROUP BY e.id ORDER BY e.id
