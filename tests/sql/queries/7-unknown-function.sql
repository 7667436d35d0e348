SELECT cuont(*) FROM 'events.jsonl'
