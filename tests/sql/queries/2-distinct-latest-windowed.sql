SELECT DISTINCT pid, bytes FROM 'events.jsonl' GROUP BY pid WINDOW TUMBLING 10s ORDER BY pid
-- sqlite: SELECT pid, bytes FROM (SELECT pid, bytes, max(time) FROM events GROUP BY pid) ORDER BY pid
