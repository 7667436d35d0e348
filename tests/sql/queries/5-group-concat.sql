SELECT cpu, group_concat(k, '+') AS ks FROM 'events.jsonl' WHERE pid = 100 GROUP BY cpu ORDER BY cpu
