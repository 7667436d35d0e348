SELECT pidd FROM 'events.jsonl'
