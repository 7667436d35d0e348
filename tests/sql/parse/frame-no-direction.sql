SELECT sum(x) OVER (ORDER BY pid ROWS 1) FROM t:a:b
