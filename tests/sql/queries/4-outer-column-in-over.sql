SELECT e.key, (SELECT sum(b.prio + e.key) FILTER (WHERE b.time > e.key) OVER (PARTITION BY e.key ORDER BY b.time + e.key) FROM 'begins.jsonl' AS b WHERE b.key = 1 LIMIT 1) AS n FROM 'ends.jsonl' AS e
