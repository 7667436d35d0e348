SELECT count(*) AS n FROM 'events.jsonl' HAVING count(*) > 1000
