SELECT k, count(*) AS n FROM 'events.jsonl' WHERE n > 1000 GROUP BY k
