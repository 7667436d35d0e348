SELECT first(bytes) AS f, last(bytes) AS l, stddev(bytes) AS sd FROM 'events.jsonl' WINDOW HOPPING 8s BY 3s
-- sqlite: SELECT (SELECT bytes FROM events ORDER BY time LIMIT 1) AS f, (SELECT bytes FROM events ORDER BY time DESC LIMIT 1) AS l, sd(bytes, 1) AS sd FROM events
