-- tables only
SELECT key FROM 'names.csv' AS weight WHERE EXISTS (SELECT 1 FROM 'names.csv' AS b WHERE b.key = weight.key AND b.weight > 1)
