SELECT avg(m) AS mean, count(*) AS groups FROM (SELECT pid, count(*) AS m FROM 'events.jsonl' GROUP BY pid) AS x WINDOW TUMBLING 5s
