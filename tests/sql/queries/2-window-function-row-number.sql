SELECT time, k, row_number() OVER (PARTITION BY k ORDER BY time) AS i FROM 'events.jsonl' WHERE cpu = 0 ORDER BY time LIMIT 10
