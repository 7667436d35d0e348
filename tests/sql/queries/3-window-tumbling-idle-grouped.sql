SELECT pid, count(*) AS m FROM 'events.jsonl' GROUP BY pid WINDOW TUMBLING 2s ORDER BY pid
