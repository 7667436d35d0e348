SELECT e.id FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key > 3
