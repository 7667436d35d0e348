-- what stands behind the limit is not computed, and no fault of it counted
SELECT 100 / (n - 2) AS x FROM 'far.csv' LIMIT 1
