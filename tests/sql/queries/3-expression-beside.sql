SELECT max(u) % 3 AS a, max(u) / 2 AS b, -min(u) AS c, max(u) / 0 AS d, max(u) * 2 AS e, (SELECT 1) AS one FROM 'extremes.jsonl' HAVING max(u) > 100
-- check: none, rows by hand
