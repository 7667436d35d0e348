SELECT UNNEST(top_k(k, 2)) FROM 'events.jsonl'
-- sqlite: SELECT * FROM (SELECT k AS value, count(*) AS weight, 0 AS error FROM events WHERE k IS NOT NULL GROUP BY k ORDER BY 2 DESC LIMIT 2) UNION ALL SELECT NULL, count(k) - (SELECT sum(m) FROM (SELECT count(*) AS m FROM events WHERE k IS NOT NULL GROUP BY k ORDER BY m DESC LIMIT 2)), 0 FROM events
