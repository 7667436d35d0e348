SELECT count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' WINDOW COUNT (SIZE 16, ADVANCE BY 10)
