SELECT UNNEST(top_k(pid, 2)) FROM 'events.jsonl'
-- sqlite: SELECT pid AS value, count(*) AS weight, 0 AS error FROM events GROUP BY pid ORDER BY 2 DESC, 1 LIMIT 2
-- check: top
