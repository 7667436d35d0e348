-- check: none, which name is whose was derived by hand
SELECT e.k, b.window_start AS w, count(*) AS m, min(b.window_end) AS v, current.window_start AS z, e.window_end AS y FROM 'events.jsonl' AS e JOIN 'bounds.csv' AS b ON e.k = b.k WHERE b.window_start > 111 GROUP BY e.k, b.window_start WINDOW TUMBLING 1s ORDER BY b.window_start
