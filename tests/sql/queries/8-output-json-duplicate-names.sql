-- check: none, the second of a name gets a suffix
SELECT n, n, n + 0 AS n FROM 'events.jsonl' LIMIT 1
