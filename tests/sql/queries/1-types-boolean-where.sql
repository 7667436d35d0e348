SELECT count(*) FILTER (WHERE ok) AS yes, count(*) FILTER (WHERE NOT ok) AS no, count(*) FILTER (WHERE ok IS NULL) AS unknown, count(*) FILTER (WHERE ok = TRUE) AS t FROM 'events.jsonl'
