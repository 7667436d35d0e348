-- tables only
-- options: -o jsonl
SELECT 1 AS a, 'x' AS b
