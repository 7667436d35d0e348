SELECT n % 3 AS rest, count(*) AS m FROM 'events.jsonl' GROUP BY n % 3 ORDER BY 1
