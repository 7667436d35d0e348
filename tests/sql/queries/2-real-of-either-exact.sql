-- check: none, SQLite keeps whole numbers among REALs
SELECT time - lag(time, 1, 0.0) OVER (ORDER BY time) AS d, time IN (SELECT time FROM 'events.jsonl' UNION ALL SELECT 0.5) AS i, time IN (SELECT nullif(time, 0.0) FROM 'events.jsonl') AS f FROM 'events.jsonl' ORDER BY time LIMIT 3
