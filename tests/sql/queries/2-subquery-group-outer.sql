SELECT a.n, (SELECT count(*) FROM 'events.jsonl' AS b GROUP BY b.n > a.n LIMIT 1) AS x FROM 'events.jsonl' AS a
