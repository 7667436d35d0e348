SELECT count(*) AS n, (SELECT p50(nr) FROM 'calls.csv' WHERE nr = 9 UNION SELECT p50(nr) FROM 'calls.csv' WHERE nr = 9) + 1 AS next FROM 'calls.csv' WHERE nr IN (SELECT p50(nr) FROM 'calls.csv' WHERE nr = 9 UNION ALL SELECT p50(nr) FROM 'calls.csv' WHERE nr = 12)
-- check: none, rows by hand
