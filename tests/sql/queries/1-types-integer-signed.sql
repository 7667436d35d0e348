SELECT i, -i AS minus, i - 1 AS less FROM 'extremes.jsonl' WHERE i BETWEEN -1 AND 5
