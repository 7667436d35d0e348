SELECT ok, count(*) AS n FROM 'events.jsonl' GROUP BY ok ORDER BY ok
