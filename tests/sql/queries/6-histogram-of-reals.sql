SELECT histogram(r) FROM 'events.jsonl'
