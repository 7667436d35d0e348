SELECT pid, sum(n) AS s FROM 'events.jsonl' GROUP BY pid ORDER BY abs(sum(n))
