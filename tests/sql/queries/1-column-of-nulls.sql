SELECT k, n, n > 5 AS a, n = 'x' AS b, coalesce(n, k) AS c, n || 'x' AS d FROM 'none.csv' WHERE n IS NULL UNION ALL SELECT k, k, n IN (1), n LIKE 'a', abs(n), upper(n) FROM 'none.csv'
