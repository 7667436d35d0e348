SELECT count(*) AS m, sum(n) AS s, min(n) AS lo, max(n) AS hi FROM 'events.jsonl' WINDOW HOPPING 10s BY 5s
