SELECT UNNEST(top_k(k, 2)) FROM 'events.jsonl'
