SELECT count(*) FROM 'events.jsonl' WHERE pid = 'alpha'
