SELECT k, count(*) AS n, max(name) AS m FROM 'header.csv' WHERE name <> 'x' AND k < 5 AND abs(k) > 2 AND coalesce(k, 0) = 7 GROUP BY k, name WINDOW COUNT 2 PER GROUP
