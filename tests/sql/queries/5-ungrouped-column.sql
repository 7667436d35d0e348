SELECT pid, count(*) FROM 'events.jsonl'
