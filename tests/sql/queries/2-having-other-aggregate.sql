SELECT k FROM 'events.jsonl' GROUP BY k HAVING max(n) - min(n) > 90 AND k IS NOT NULL ORDER BY k
