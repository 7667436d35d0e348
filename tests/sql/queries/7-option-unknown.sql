SET max_group = 5;
SELECT count(*) FROM 'events.jsonl'
