SELECT count(*) FILTER (WHERE n IN (1, NULL)) AS a, count(*) FILTER (WHERE n NOT IN (1, NULL)) AS b, count(*) FILTER (WHERE (n IN (1, NULL)) IS NULL) AS c FROM 'events.jsonl'
