-- check: none, it is told
-- options: -o csv
SELECT k FROM 'events.jsonl' LIMIT 2147483648 OFFSET 62
