SELECT count(*) AS m, min(time) AS a, max(time) AS z FROM 'events.jsonl' WINDOW SESSION (GAP 500ms)
-- flat: sorted
-- sqlite: WITH g AS (SELECT *, lag(time) OVER (ORDER BY time) AS p FROM events), w AS (SELECT *, sum(p IS NULL OR time - p > 500000000) OVER (ORDER BY time) AS w FROM g) SELECT count(*) AS m, min(time) AS a, max(time) AS z FROM w GROUP BY w
