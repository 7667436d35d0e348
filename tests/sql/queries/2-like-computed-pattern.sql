SELECT s, k FROM 'events.jsonl' WHERE s LIKE substr(k, 1, 1) || '%' ORDER BY time
