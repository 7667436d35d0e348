SELECT round(r) AS about, count(*) AS m FROM 'events.jsonl' GROUP BY about ORDER BY about
