SELECT max(m) FROM (SELECT cpu, count(*) AS m FROM 'events.jsonl' GROUP BY cpu WINDOW TUMBLING 5s) AS u
