SELECT id FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key
