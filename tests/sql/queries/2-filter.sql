SELECT count(*) AS all_of_them, count(*) FILTER (WHERE n > 0) AS positive, sum(n) FILTER (WHERE n > 0) AS s, max(d) FILTER (WHERE k = 'beta') AS longest FROM 'events.jsonl'
