SELECT count(*) AS m, sum(n) AS s FROM 'events.jsonl' WINDOW(count, 16, 16)
