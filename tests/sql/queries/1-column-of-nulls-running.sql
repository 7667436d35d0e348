SELECT k, sum(1) OVER (PARTITION BY n), sum(n) OVER (ORDER BY time), count(n) OVER (PARTITION BY n + 1 ORDER BY time) FROM 'none.csv'
