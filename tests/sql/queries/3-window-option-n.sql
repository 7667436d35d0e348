-- options: -n 2
-- sqlite: SELECT count(*) AS m FROM events
-- windows: 2
SELECT count(*) AS m FROM 'events.jsonl' WINDOW TUMBLING 5s
