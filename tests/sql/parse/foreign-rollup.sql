SELECT k, count(*) FROM t:a:b GROUP BY ROLLUP (k, v) LIMIT 3
