SELECT a.n, (SELECT b.n FROM 'events.jsonl' AS b WHERE b.n >= a.n ORDER BY abs(b.n - a.n) LIMIT 1) AS x FROM 'events.jsonl' AS a
