SELECT d, d / 1us AS us, d * 2 AS twice, d + 1ms AS more, d / 2 AS half FROM 'events.jsonl' WHERE d > 3ms LIMIT 4
