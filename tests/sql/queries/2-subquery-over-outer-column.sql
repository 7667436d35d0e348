SELECT a.pid, (SELECT sum(b.n + a.pid) OVER (ORDER BY b.time) FROM 'events.jsonl' AS b WHERE b.pid = 100 LIMIT 1) AS x FROM 'events.jsonl' AS a LIMIT 3
