SELECT cpu, UNNEST(top_k(pid, 2, bytes)) AS who FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
