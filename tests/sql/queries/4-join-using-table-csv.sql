SELECT e.time, e.k, t.name, t.weight FROM 'events.jsonl' AS e JOIN 'names.csv' AS t ON e.k = t.key WHERE e.n > 30 ORDER BY e.time
