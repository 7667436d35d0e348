SELECT count(*) FROM 'events.jsonl'; SELECT 1
