SELECT (SELECT count(*) FROM 'events.jsonl') AS n WINDOW SESSION 1s
