SELECT n FROM 'events.jsonl' WHERE pid == 102 AND k == 'alpha'
