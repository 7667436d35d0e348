SELECT (SELECT max(100 / (n - 1)) FROM 'events.jsonl') AS i, pid FROM 'events.jsonl' ORDER BY i, pid LIMIT 2
