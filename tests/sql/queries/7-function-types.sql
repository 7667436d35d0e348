SELECT round(k), sqrt(k), substr(k, 1.5), abs(k), iif(k, 1, 2), coalesce(k, 1) FROM 'events.jsonl'
