SELECT pid, cpu, count(*) AS m FROM 'events.jsonl' GROUP BY pid, cpu ORDER BY pid, cpu LIMIT 3 OFFSET 2
