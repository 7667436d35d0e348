SELECT count(*) AS m FROM 'events.jsonl' WINDOW(time, 6000, 4000)
