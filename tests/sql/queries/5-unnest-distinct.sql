SELECT DISTINCT UNNEST(histogram(n)) FROM 'events.jsonl'
