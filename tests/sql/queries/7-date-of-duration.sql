-- check: none, SQLite knows no durations
-- options: -o csv
SELECT time(1s) AS a, date(d) AS b, count(*) AS m FROM 'events.jsonl' WHERE k = 'alpha' GROUP BY time(1s), date(d)
