SELECT n, count(*) AS m FROM 'events.jsonl' WHERE cpu = 0 GROUP BY n ORDER BY n DESC NULLS FIRST LIMIT 5
