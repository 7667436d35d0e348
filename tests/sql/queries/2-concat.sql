SELECT k || ':' || n AS both, k || NULL AS nothing FROM 'events.jsonl' WHERE cpu = 0 LIMIT 5
