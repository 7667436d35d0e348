SELECT k, first(n) AS f, last(n) AS l FROM 'events.jsonl' GROUP BY k ORDER BY k
-- sqlite: SELECT k, (SELECT n FROM events AS y WHERE y.k IS x.k AND n IS NOT NULL ORDER BY time LIMIT 1) AS f, (SELECT n FROM events AS y WHERE y.k IS x.k AND n IS NOT NULL ORDER BY time DESC LIMIT 1) AS l FROM events AS x GROUP BY k ORDER BY k
