SELECT row_number() FROM 'events.jsonl'
