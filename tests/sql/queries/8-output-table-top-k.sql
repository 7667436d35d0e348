-- options: -o table
-- check: none, the picture of 5-top-k
SELECT top_k(k, 2) AS t FROM 'events.jsonl'
