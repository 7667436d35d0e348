SELECT e.id AS e, b.id AS b FROM 'ends.jsonl' AS e JOIN 'begins.jsonl' AS b ON e.key = b.key AND e.time >= b.time WINDOW TUMBLING 500ms
-- windowed: sorted
