SELECT e.key AS key, count(*) AS m, sum(e.time - b.time) AS total, max(e.time - b.time) AS longest, histogram(e.time - b.time) AS h FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key GROUP BY e.key ORDER BY key
-- sqlite: SELECT key, count(*) AS m, sum(took) AS total, max(took) AS longest, hist(took, 'log2') AS h FROM pairs GROUP BY key ORDER BY key
