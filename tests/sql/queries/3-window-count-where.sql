SELECT count(*) AS m, sum(n) AS s FROM 'events.jsonl' WHERE n > 0 WINDOW COUNT (SIZE 8)
