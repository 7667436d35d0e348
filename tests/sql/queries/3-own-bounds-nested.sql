-- check: none, which name is whose was derived by hand
SELECT sum(q.window_start) AS own, b.x FROM (SELECT time, k, n AS window_start FROM 'events.jsonl' WHERE n > 0) AS q JOIN (SELECT k, b.window_end AS x FROM 'bounds.csv' AS b) AS b ON b.k = q.k GROUP BY b.x WINDOW TUMBLING 1s ORDER BY b.x
