SELECT cpu, top_k(bytes, 3, bytes) AS t FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
-- sqlite: SELECT cpu, top(bytes, bytes, 3) AS t FROM events GROUP BY cpu ORDER BY cpu
