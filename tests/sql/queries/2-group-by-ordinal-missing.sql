SELECT k, count(*) FROM 'events.jsonl' GROUP BY 3
