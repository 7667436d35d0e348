-- options: -o csv
SELECT k, name || '!' AS y, k + 1 AS x FROM 'header.csv' WHERE k > 5 AND name LIKE 'a%' ORDER BY time, k
