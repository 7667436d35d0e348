SELECT (SELECT count(*) OVER () FROM 'begins.jsonl' AS b WHERE b.key = e.key LIMIT 1) AS n FROM 'ends.jsonl' AS e
