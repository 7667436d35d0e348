SELECT k, count(*) AS m FROM 'events.jsonl' GROUP BY k WINDOW COUNT (SIZE 16) ORDER BY k
