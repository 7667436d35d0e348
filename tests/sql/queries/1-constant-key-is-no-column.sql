SELECT nr AS a, count(*) AS n, 1 AS x, +1 AS y FROM 'calls.csv' GROUP BY nr, x ORDER BY x, y, n DESC, nr
-- sqlite: SELECT nr AS a, count(*) AS n, 1 AS x, 1 AS y FROM calls GROUP BY nr ORDER BY n DESC, nr
