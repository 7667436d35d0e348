SELECT k FROM 'events.jsonl' ORDER BY UNNEST(histogram(n))
