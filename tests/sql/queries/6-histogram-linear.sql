SELECT histogram(n, linear(-20, 20, 10)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(n, 'linear(-20, 20, 10)') AS h FROM events
