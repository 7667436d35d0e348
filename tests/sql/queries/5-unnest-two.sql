SELECT UNNEST(histogram(n)), UNNEST(histogram(d)) FROM 'events.jsonl'
