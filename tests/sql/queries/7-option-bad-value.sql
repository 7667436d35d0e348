SELECT count(*) FROM 'events.jsonl' WITH (edge = 'left')
