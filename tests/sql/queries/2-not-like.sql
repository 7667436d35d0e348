SELECT count(*) AS n FROM 'events.jsonl' WHERE s NOT LIKE '%a%'
