-- check: none, rows by hand
SELECT k, sum(v) AS s, sum(v) + 1 AS more FROM 'mended.csv' GROUP BY k HAVING s > 6 ORDER BY s
