SELECT count(*) AS m, sum(n) AS s FROM 'events.jsonl' WINDOW TUMBLING 5s
