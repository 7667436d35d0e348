SELECT UNNEST(k) FROM 'events.jsonl'
