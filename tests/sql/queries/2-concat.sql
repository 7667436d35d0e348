SELECT k || ':' || n AS both, k || NULL AS lacking FROM 'events.jsonl' WHERE cpu = 0 LIMIT 5
