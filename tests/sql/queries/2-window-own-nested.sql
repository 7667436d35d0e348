SELECT max(m) AS most FROM (SELECT pid, count(*) AS m FROM 'events.jsonl' GROUP BY pid) AS x WINDOW SESSION 1s
