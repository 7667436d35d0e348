SELECT count(DISTINCT k) AS k, count(DISTINCT pid) AS pid, count(DISTINCT n % 4) AS rest, count(DISTINCT r) AS r FROM 'events.jsonl'
