SELECT k, count(*) FROM 'events.jsonl' GROUP BY k ORDER BY 9
