SELECT histogram(d, exponential(7)) FROM 'events.jsonl'
