-- options: -n 3
-- sqlite: SELECT time, k FROM events LIMIT 3
SELECT time, k FROM 'events.jsonl'
