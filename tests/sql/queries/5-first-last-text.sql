SELECT cpu, first(s) AS f, last(s) AS l FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
-- sqlite: SELECT cpu, (SELECT s FROM events AS y WHERE y.cpu = x.cpu AND s IS NOT NULL ORDER BY time LIMIT 1) AS f, (SELECT s FROM events AS y WHERE y.cpu = x.cpu AND s IS NOT NULL ORDER BY time DESC LIMIT 1) AS l FROM events AS x GROUP BY cpu ORDER BY cpu
