SELECT n FROM 'events.jsonl' WHERE n IS NULL UNION SELECT NULL FROM 'ends.jsonl'
