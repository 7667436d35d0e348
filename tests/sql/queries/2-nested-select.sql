SELECT max(m) AS most, min(m) AS least FROM (SELECT pid, cpu, count(*) AS m FROM 'events.jsonl' GROUP BY pid, cpu) AS x
