-- check: none, SQLite keeps whole numbers among REALs
SELECT x, x / 2 AS h, typeof(x) AS t, y / 2 AS g FROM (SELECT 3 AS x, 1 AS y UNION ALL SELECT 2.5, 3 UNION ALL SELECT NULL, 5 UNION ALL SELECT count(*), 7 FROM 'events.jsonl') AS q ORDER BY y
