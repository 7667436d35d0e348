SELECT top_k(k, 2) AS t FROM 'events.jsonl'
-- sqlite: SELECT top(k, 1, 2) AS t FROM events
