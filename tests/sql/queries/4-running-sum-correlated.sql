SELECT (SELECT count(*) OVER () FROM 'begins.jsonl' AS b WHERE b.key = e.key LIMIT 1) AS n FROM 'ends.jsonl' AS e
-- sqlite: SELECT (SELECT count(*) OVER (ORDER BY time) FROM begins AS b WHERE b.key = e.key LIMIT 1) AS n FROM ends AS e ORDER BY time
