SELECT k, count(*) AS m, min(time) AS a FROM 'events.jsonl' WHERE k IS NOT NULL GROUP BY k WINDOW SESSION (GAP 2s) HAVING m > 2
-- flat: sorted
-- sqlite: WITH g AS (SELECT *, lag(time) OVER (PARTITION BY k ORDER BY time) AS p FROM events WHERE k IS NOT NULL), w AS (SELECT *, sum(p IS NULL OR time - p > 2000000000) OVER (PARTITION BY k ORDER BY time) AS w FROM g) SELECT k, count(*) AS m, min(time) AS a FROM w GROUP BY k, w HAVING m > 2
