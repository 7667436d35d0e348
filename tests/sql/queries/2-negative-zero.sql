-- tables only
SELECT -0.0 AS zero FROM 'names.csv' LIMIT 1
