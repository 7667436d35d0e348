SELECT (SELECT max(s) FROM (SELECT sum(b.key) OVER (ORDER BY b.time) AS s FROM 'begins.jsonl' AS b WHERE b.key = e.key) AS x) AS n FROM 'ends.jsonl' AS e
