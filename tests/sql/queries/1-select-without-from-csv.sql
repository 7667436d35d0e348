-- tables only
-- options: -o csv
SELECT 1 AS a, 'x' AS b
