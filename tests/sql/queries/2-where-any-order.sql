-- sqlite: SELECT cpu, count(*) AS n FROM events WHERE n > 0 GROUP BY cpu HAVING count(*) > 1 ORDER BY cpu
SELECT cpu, count(*) AS n FROM 'events.jsonl' WINDOW TUMBLING 5s HAVING count(*) > 1 GROUP BY cpu WHERE n > 0 ORDER BY cpu
