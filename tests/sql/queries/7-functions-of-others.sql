SELECT median(n), date_trunc('second', time) FROM 'events.jsonl'
