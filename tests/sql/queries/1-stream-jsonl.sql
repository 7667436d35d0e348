SELECT time, pid, k FROM 'events.jsonl' WHERE n > 40
