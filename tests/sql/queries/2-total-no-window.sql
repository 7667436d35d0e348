SELECT count(*) AS n, count(n) AS of_n, sum(n) AS s, min(n) AS lo, max(n) AS hi, avg(n) AS mean FROM 'events.jsonl'
