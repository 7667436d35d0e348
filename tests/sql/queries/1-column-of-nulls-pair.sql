SELECT a.k, b.k AS bk FROM 'none.csv' AS a LEFT PAIR JOIN 'none.csv' AS b ON a.n = b.n AND a.k = b.k AND a.n + 1 = b.k
