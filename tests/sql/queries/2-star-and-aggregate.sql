SELECT *, count(*) FROM 'events.jsonl'
