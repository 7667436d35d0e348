SELECT count(*) AS m, min(time) AS t FROM 'events.jsonl' WINDOW(count, 20, 15)
