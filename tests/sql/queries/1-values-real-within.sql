-- options: -o csv
-- check: none, SQLite keeps whole numbers among REALs
SELECT column1 / 2 AS h, column2 || '' AS t FROM (VALUES (3, 3), (2.5, 4)) AS v WHERE column1 IN (SELECT 3 UNION SELECT 2.5)
