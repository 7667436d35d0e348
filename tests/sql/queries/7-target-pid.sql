-- options: -p 102
-- sqlite: SELECT count(*) AS m FROM events WHERE pid = 102
SELECT count(*) AS m FROM 'events.jsonl' WHERE pid = target_pid()
