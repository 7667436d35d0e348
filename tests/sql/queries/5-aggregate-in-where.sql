SELECT pid FROM 'events.jsonl' WHERE count(*) > 1
