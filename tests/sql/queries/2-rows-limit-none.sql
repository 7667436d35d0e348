SELECT 100 / (n - 1) AS x FROM 'far.csv' LIMIT 0
