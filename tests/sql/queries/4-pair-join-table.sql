SELECT e.key, n.name FROM 'ends.jsonl' AS e PAIR JOIN 'names.csv' AS n ON e.key = n.key
