SELECT bytes > 1000 AS is_big, count(*) AS m FROM 'events.jsonl' GROUP BY is_big ORDER BY is_big
