SELECT key, sum(2) OVER (PARTITION BY 'b') AS s FROM (SELECT key, id FROM 'ends.jsonl' WHERE upper(id) < 'E14') AS q
-- sqlite: SELECT key, 2 * row_number() OVER (ORDER BY time) AS s FROM ends WHERE upper(id) < 'E14' ORDER BY time
