SELECT key, count(*) AS n FROM 'ends.jsonl' GROUP BY key HAVING 'ab	c' || key <> 'ab	c' ORDER BY 'x' || key, n LIMIT 2
-- sqlite: SELECT key, count(*) AS n FROM ends GROUP BY key HAVING 'ab' || key <> 'ab' ORDER BY 'x' || key, n LIMIT 2
