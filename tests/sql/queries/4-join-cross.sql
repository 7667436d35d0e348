-- tables only
SELECT count(*) AS m FROM 'names.csv' AS a CROSS JOIN 'sizes.jsonl' AS b
