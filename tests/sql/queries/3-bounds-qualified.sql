-- check: none, the answer of the same query with current. for a.
-- options: -o csv
WITH a AS (SELECT window_start, window_end, k, count(*) AS c FROM 'events.jsonl' GROUP BY k) SELECT a.window_start, a.k, sum(a.c) AS s, b.window_start AS own FROM a JOIN 'bounds.csv' AS b ON a.k = b.k GROUP BY a.k, b.window_start HAVING a.window_end > 1700000003s WINDOW TUMBLING 1s ORDER BY a.window_end DESC, a.k
