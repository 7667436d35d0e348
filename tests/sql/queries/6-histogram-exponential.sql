SELECT histogram(d, exponential(1)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(d, 'exponential(1)') AS h FROM events
