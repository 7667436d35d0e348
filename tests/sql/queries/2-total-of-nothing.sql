SELECT count(*) AS n, sum(n) AS s, min(n) AS lo, avg(n) AS mean, max(k) AS k FROM 'events.jsonl' WHERE n > 1000
