SELECT count(*) FILTER (WHERE cpu = 0) AS zero, count(*) FILTER (WHERE cpu = 1) AS one FROM 'events.jsonl' WINDOW TUMBLING 5s
