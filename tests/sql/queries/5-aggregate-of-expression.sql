SELECT sum(n * n) AS s, max(abs(n)) AS m, avg(bytes / 2) AS a, count(n / 0) AS none, sum(CASE WHEN n > 0 THEN 1 ELSE 0 END) AS p FROM 'events.jsonl'
-- sqlite: SELECT sum(n * n) AS s, max(abs(n)) AS m, avg(bytes / 2) AS a, 0 AS none, sum(CASE WHEN n > 0 THEN 1 ELSE 0 END) AS p FROM events
