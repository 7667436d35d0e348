SELECT k, count(*) AS m FROM 'events.jsonl' GROUP BY k ORDER BY k
