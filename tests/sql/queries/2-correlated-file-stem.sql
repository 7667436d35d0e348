-- tables only
SELECT key FROM 'names.csv' WHERE EXISTS (SELECT 1 FROM 'names.csv' AS b WHERE b.key = names.key AND b.weight > 1)
