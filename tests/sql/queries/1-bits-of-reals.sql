-- tables only
SELECT (r & 3) / 2 AS d, ~r AS n, r | 8 AS o, r << 1 AS l, r >> 1 AS s, -(~r) AS m FROM (VALUES (7.5), (1e18), (-2.9), (NULL)) AS v (r)
