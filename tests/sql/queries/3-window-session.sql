SELECT k, count(*) AS m, sum(n) AS s, min(time) AS a, max(time) AS z FROM 'events.jsonl' GROUP BY k WINDOW SESSION (GAP 1s)
-- flat: sorted
-- sqlite: WITH g AS (SELECT *, lag(time) OVER (PARTITION BY k ORDER BY time) AS p FROM events), w AS (SELECT *, sum(p IS NULL OR time - p > 1000000000) OVER (PARTITION BY k ORDER BY time) AS w FROM g) SELECT k, count(*) AS m, sum(n) AS s, min(time) AS a, max(time) AS z FROM w GROUP BY k, w
