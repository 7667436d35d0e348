WITH w AS (SELECT key, id FROM 'ends.jsonl' WHERE upper(id) < 'E14')
SELECT * FROM (SELECT id, count(*) OVER (PARTITION BY key) AS n FROM w) AS a JOIN w AS b ON a.id = b.id ORDER BY n, b.id
-- sqlite: SELECT id, count(*) OVER (PARTITION BY key ORDER BY time) AS n, key, id AS "b.id" FROM ends WHERE upper(id) < 'E14' ORDER BY 2, 1
