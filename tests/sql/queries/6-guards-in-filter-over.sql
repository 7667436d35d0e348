SELECT d.key, count(d.a) FILTER (WHERE d.a = 0 OR 100 / d.a > 20) OVER (ORDER BY d.key ROWS 1 PRECEDING) AS n FROM 'far.csv' AS f JOIN 'divisors.csv' AS d ON f.n = 1
