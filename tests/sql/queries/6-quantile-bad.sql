SELECT quantile(d, 99) FROM 'events.jsonl'
