SELECT UNNEST(histogram(n, linear(-50, 50, 50))) FROM 'events.jsonl' WINDOW TUMBLING 10s
