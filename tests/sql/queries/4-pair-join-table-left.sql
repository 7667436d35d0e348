SELECT e.key, n.name FROM 'names.csv' AS n PAIR JOIN 'ends.jsonl' AS e ON e.key = n.key
