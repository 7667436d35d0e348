-- options: -o table
-- check: none, the picture of the rows of 3-window-count
SELECT k, count(*) AS m, max(d) AS longest, avg(n) AS mean FROM 'events.jsonl' GROUP BY k WINDOW TUMBLING 10s ORDER BY k
