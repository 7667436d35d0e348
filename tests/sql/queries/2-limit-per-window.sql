SELECT pid, count(*) AS m FROM 'events.jsonl' GROUP BY pid WINDOW TUMBLING 5s ORDER BY m DESC, pid LIMIT 1
