SELECT cpu, pid, sum(bytes) AS b FROM 'events.jsonl' GROUP BY cpu, pid ORDER BY cpu DESC, b ASC
