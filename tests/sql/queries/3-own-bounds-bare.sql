-- check: none, which name is whose was derived by hand
-- options: -o csv
SELECT e.k, window_start AS w, count(*) AS m FROM 'events.jsonl' AS e JOIN 'bounds.csv' AS b ON e.k = b.k GROUP BY e.k, window_start WINDOW TUMBLING 1s ORDER BY 1
