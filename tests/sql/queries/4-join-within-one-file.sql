SELECT count(*) AS m FROM 'events.jsonl' AS a JOIN 'events.jsonl' AS b ON a.pid = b.pid AND a.time < b.time
