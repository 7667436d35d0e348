SELECT histogram(CAST(r * 10 AS INTEGER), linear(-50, 50, 20)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(CAST(r * 10 AS INTEGER), 'linear(-50, 50, 20)') AS h FROM events
