-- options: -o table
-- check: none, the picture of 6-histogram-default
SELECT histogram(d) FROM 'events.jsonl'
