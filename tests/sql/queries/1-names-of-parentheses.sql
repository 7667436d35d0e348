SELECT (k + 2) * 3, (1 / 1) IS NULL, (k) BETWEEN 1 AND 2, (k) IN (1), ((k)) + 1, (k + 1), (k), -(k) FROM 'mended.csv' LIMIT 1
