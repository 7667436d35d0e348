SELECT q, q + 1 AS next FROM (SELECT p50(latency) AS q FROM 'calls.csv' WHERE nr IN (9, 12, 21) GROUP BY nr UNION ALL SELECT 1000) AS u WHERE q < 2000 ORDER BY q
-- check: none, rows by hand
