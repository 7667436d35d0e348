SELECT histogram(n, bounds(1, 2, 5, 9, 17, 33)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(n, 'bounds(1, 2, 5, 9, 17, 33)') AS h FROM events
