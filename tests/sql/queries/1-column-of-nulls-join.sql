SELECT a.k, b.n, b.k AS other FROM 'none.csv' AS a LEFT JOIN 'none.csv' AS b ON a.k = b.n
