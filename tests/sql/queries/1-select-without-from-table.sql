-- tables only
-- options: -o table
SELECT 1 AS a, 'x' AS b
