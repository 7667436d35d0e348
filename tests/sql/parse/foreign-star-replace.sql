SELECT * REPLACE (k + 1 AS k) FROM t:a:b
