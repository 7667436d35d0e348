SELECT pid, count(*) AS m FROM 'events.jsonl' GROUP BY pid WINDOW(time, 10000, 10000) ORDER BY pid
