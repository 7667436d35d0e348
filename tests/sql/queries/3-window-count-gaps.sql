SELECT count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' WINDOW COUNT (SIZE 10, ADVANCE BY 16)
