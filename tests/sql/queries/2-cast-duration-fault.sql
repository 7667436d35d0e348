-- check: none, SQLite knows no durations
SELECT k, CAST(k AS DURATION) AS d FROM 'events.jsonl' WHERE n > 30
