SELECT histogram(d) + 1 FROM 'events.jsonl'
