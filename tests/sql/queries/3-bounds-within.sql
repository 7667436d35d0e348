-- check: none, both selects' bounds are one
SELECT q.window_start = window_start AS is_one, window_end, q.m FROM (SELECT window_start, window_end, count(*) AS m FROM 'events.jsonl') AS q WHERE q.window_end > 0 WINDOW TUMBLING 1s
