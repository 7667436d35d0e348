SELECT histogram(d, linear(0ns, 3us, 500ns)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(d, 'linear(0, 3000, 500)') AS h FROM events
