-- check: none, an end so renamed is no start, and neither is what one arm has of its rows
-- options: -o csv
SELECT window_start, a.window_start AS again, a.c FROM (SELECT window_end AS window_start, count(*) AS c FROM 'events.jsonl' UNION ALL SELECT time, n FROM 'events.jsonl' WHERE k = 'beta') AS a WINDOW TUMBLING 5s
