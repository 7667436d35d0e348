-- options: -o expanded
-- check: none, the picture of the rows
SELECT * FROM 'ends.jsonl' WHERE key = 6
