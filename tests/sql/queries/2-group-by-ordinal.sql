SELECT cpu, pid, count(*) AS m FROM 'events.jsonl' GROUP BY 1, 2 ORDER BY 1, 2
