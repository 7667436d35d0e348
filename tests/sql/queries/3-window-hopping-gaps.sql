SELECT window_start, window_end, count(*) AS m FROM 'events.jsonl' WINDOW HOPPING 2s BY 5s
