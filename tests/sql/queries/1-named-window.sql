SELECT nr, count(*) AS n, rank() OVER w AS r, sum(count(*)) OVER (ORDER BY nr) AS s FROM 'calls.csv' GROUP BY nr WINDOW TUMBLING 1s WINDOW w AS (ORDER BY count(*) DESC, nr) ORDER BY r LIMIT 4
