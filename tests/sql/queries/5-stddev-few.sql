SELECT stddev(n) AS one, stddev_pop(n) AS zero FROM 'events.jsonl' WHERE n = (SELECT max(n) FROM 'events.jsonl')
-- sqlite: SELECT sd(n, 1) AS one, sd(n, 0) AS zero FROM events WHERE n = (SELECT max(n) FROM events)
