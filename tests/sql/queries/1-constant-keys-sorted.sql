SELECT +7 AS x, -7 AS y, count(*) AS n FROM 'calls.csv' GROUP BY x, y, +2 ORDER BY x, y DESC, n
-- sqlite: SELECT 7 AS x, -7 AS y, count(*) AS n FROM calls
-- check: a number in GROUP BY and ORDER BY of the SQL for SQLite would be that of a column
