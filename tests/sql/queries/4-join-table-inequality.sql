SELECT e.bytes, max(s.bytes) AS below FROM 'events.jsonl' AS e JOIN 'sizes.jsonl' AS s ON s.bytes <= e.bytes GROUP BY e.bytes ORDER BY e.bytes
