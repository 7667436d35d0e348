SELECT ALL k FROM 'events.jsonl'
