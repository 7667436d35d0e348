SELECT p, p + 1 AS q, p > 30 AS b, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY key) FROM 'ends.jsonl') < p AS c FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS p FROM 'events.jsonl' WHERE n > 0) AS s WHERE p > 20
-- check: none, 6-percentile-cont.sql has the value
