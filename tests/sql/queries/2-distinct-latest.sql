SELECT DISTINCT pid, bytes, cpu, time FROM 'events.jsonl' GROUP BY pid ORDER BY pid
-- sqlite: SELECT pid, bytes, cpu, max(time) AS time FROM events GROUP BY pid ORDER BY pid
