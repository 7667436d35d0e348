SELECT k, count(*) FROM 'events.jsonl' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2
