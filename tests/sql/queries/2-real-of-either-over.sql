-- check: none, SQLite keeps whole numbers among REALs
SELECT n, lag(n, 1, 0.5) OVER (ORDER BY time) / 2 AS b, lead(n, 1, 0.5) OVER (ORDER BY time) / 2 AS a FROM 'events.jsonl' WHERE k = 'alpha' ORDER BY time
