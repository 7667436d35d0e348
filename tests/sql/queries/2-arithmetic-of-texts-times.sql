SELECT time - '2 seconds', time - ' -5 ms', time - '2024-01-01' FROM 'events.jsonl'
