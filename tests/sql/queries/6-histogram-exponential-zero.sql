SELECT histogram(bytes, exponential(0)) AS h FROM 'events.jsonl'
-- sqlite: SELECT hist(bytes, 'exponential(0)') AS h FROM events
