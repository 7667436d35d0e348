SELECT s.label, count(*) AS m FROM 'events.jsonl' AS e JOIN 'sizes.jsonl' AS s ON e.bytes = s.bytes GROUP BY s.label WINDOW TUMBLING 10s ORDER BY s.label
