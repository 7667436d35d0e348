SELECT histogram(d) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(d, 'log2') AS h FROM events
