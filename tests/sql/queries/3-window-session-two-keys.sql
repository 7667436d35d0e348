SELECT cpu, pid, count(*) AS m, sum(bytes) AS b, min(time) AS a FROM 'events.jsonl' GROUP BY cpu, pid WINDOW SESSION (GAP 4s)
-- flat: sorted
-- sqlite: WITH g AS (SELECT *, lag(time) OVER (PARTITION BY cpu, pid ORDER BY time) AS p FROM events), w AS (SELECT *, sum(p IS NULL OR time - p > 4000000000) OVER (PARTITION BY cpu, pid ORDER BY time) AS w FROM g) SELECT cpu, pid, count(*) AS m, sum(bytes) AS b, min(time) AS a FROM w GROUP BY cpu, pid, w
