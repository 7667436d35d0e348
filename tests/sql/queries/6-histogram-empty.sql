SELECT histogram(d) AS h, p99(d) AS p FROM 'events.jsonl' WHERE d < 0ns
-- sqlite: SELECT hist(d, 'log2') AS h, NULL AS p, NULL AS p_lo, NULL AS p_hi FROM events WHERE d < 0
