SELECT k FROM 't.csv' WHERE (SELECT count(*) FROM 'u.csv' AS b WHERE b.k = 't.csv'.k) > 0
