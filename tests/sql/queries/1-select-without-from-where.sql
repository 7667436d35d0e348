-- tables only
SELECT 1 AS x WHERE 1 = 2
