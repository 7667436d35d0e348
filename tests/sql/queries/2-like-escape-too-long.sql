SELECT count(*) FROM 'events.jsonl' WHERE s LIKE 'a%' ESCAPE '!!'
