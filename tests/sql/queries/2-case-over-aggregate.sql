SELECT k, CASE WHEN sum(n) > 0 THEN sum(n) ELSE -sum(n) END AS size FROM 'events.jsonl' GROUP BY k ORDER BY k
