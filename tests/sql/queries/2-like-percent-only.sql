SELECT count(*) AS n FROM 'events.jsonl' WHERE s LIKE '%'
