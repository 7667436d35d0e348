SELECT cpu, min(k) AS lo, max(k) AS hi FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
