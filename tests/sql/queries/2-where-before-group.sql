SELECT cpu, count(*) AS n FROM 'events.jsonl' WHERE n > 0 GROUP BY cpu ORDER BY cpu
