SELECT k, count(*) * 100 / (SELECT count(*) FROM 'events.jsonl') AS percent FROM 'events.jsonl' GROUP BY k WINDOW TUMBLING 5s ORDER BY k
