SELECT k, count(*) FROM t:a:b GROUP BY GROUPING SETS ((k), ())
