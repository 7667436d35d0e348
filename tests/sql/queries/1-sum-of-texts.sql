-- check: none, rows by hand
SELECT k, sum(v) AS s, avg(v) AS a, count(v) AS n FROM 'mended.csv' GROUP BY k ORDER BY k
