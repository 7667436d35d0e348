SELECT histogram(d, loglinear(2)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(d, 'loglinear(2)') AS h FROM events
