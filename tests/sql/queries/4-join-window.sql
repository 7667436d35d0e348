SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e JOIN 'begins.jsonl' AS b ON e.key = b.key WINDOW TUMBLING 500ms ORDER BY e.time, b.time
