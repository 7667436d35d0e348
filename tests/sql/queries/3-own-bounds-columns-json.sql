-- check: none, the file's columns give way to the window's bounds
-- options: -o json --window-columns
SELECT b.window_start, count(*) AS m, b.window_end, current.window_end FROM 'events.jsonl' AS e JOIN 'bounds.csv' AS b ON e.k = b.k GROUP BY b.window_start, b.window_end WINDOW TUMBLING 10s ORDER BY b.window_start
