SELECT k, pid / (n - 1) AS x FROM 'events.jsonl' WHERE 100 / (n - 1) IS NOT NULL WINDOW HOPPING 2s BY 5s ORDER BY x, k
-- check: none, the events 2 and 62 have n = 1, and lie between two windows
