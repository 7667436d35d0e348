SELECT cpu, histogram(bytes) AS h FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
-- sqlite: SELECT cpu, hist(bytes, 'log2') AS h FROM events GROUP BY cpu ORDER BY cpu
