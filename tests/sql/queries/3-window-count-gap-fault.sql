SELECT k, pid / (n - 1) AS x FROM 'events.jsonl' WINDOW COUNT (SIZE 1, ADVANCE BY 40) ORDER BY x
-- check: none, the events 2 and 62 have n = 1, and no window has them
