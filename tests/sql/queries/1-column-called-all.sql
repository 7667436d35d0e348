-- check: none, the column is meant, and no SELECT ALL
-- options: -o csv
SELECT all - n AS h, all n FROM (SELECT n + 100 AS all, n FROM 'events.jsonl' WHERE k = 'beta') LIMIT 2
