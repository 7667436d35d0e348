SELECT k, nullif(k, 1) > 5 AND 100 / (k - 1) > 3 AS a FROM 'mended.csv'
