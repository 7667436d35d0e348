SELECT k, count(*) AS m FROM 'events.jsonl' GROUP BY k HAVING m > 10 ORDER BY k
