SELECT k || q AS q, 'z' AS q FROM 'events.jsonl'
