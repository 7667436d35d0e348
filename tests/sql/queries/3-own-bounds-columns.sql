-- check: none, the file's column gives way to the window's bound, and the bound selected to none
-- options: -o csv --window-columns
SELECT b.window_start, current.window_end, e.k, count(*) AS m FROM 'events.jsonl' AS e JOIN 'bounds.csv' AS b ON e.k = b.k GROUP BY e.k, b.window_start WINDOW TUMBLING 5s ORDER BY e.k
