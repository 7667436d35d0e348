SELECT window_start, window_end, count(*) AS m FROM 'events.jsonl' WINDOW TUMBLING 5s
