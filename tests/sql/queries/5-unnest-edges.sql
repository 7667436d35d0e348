SELECT UNNEST(histogram(n, bounds(0, 10))) FROM 'events.jsonl'
