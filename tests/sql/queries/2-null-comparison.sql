SELECT count(*) AS n FROM 'events.jsonl' WHERE k = NULL
