SELECT first(n) AS f, last(n) AS l, first(n) FILTER (WHERE n > 0) AS p FROM 'events.jsonl' WINDOW TUMBLING 5s
-- sqlite: SELECT (SELECT n FROM events WHERE n IS NOT NULL ORDER BY time LIMIT 1) AS f, (SELECT n FROM events WHERE n IS NOT NULL ORDER BY time DESC LIMIT 1) AS l, (SELECT n FROM events WHERE n > 0 ORDER BY time LIMIT 1) AS p
