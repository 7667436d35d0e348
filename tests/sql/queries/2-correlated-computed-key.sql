-- tables only
SELECT length(key) AS n, (SELECT count(*) FROM 'names.csv' AS b WHERE length(b.key) = length(a.key)) AS same FROM 'names.csv' AS a GROUP BY length(key) ORDER BY 1
