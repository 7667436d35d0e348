SELECT time, key, n FROM (SELECT time, key, count(*) OVER (PARTITION BY key) AS n FROM 'ends.jsonl') AS x WHERE n = 3
-- sqlite: SELECT time, key, n FROM (SELECT time, key, count(*) OVER (PARTITION BY key ORDER BY time) AS n FROM ends) WHERE n = 3 ORDER BY time
