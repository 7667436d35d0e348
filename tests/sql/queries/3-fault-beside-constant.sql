SELECT count(*) AS m FROM 'events.jsonl' WHERE pid / (n - 1) > 0 AND 0
-- check: none, 2 events have n = 1, and AND asks for its left side
