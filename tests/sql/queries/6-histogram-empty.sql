SELECT histogram(d) AS h, p99(d) AS p FROM 'events.jsonl' WHERE d < 0ns
-- check: none, a histogram of no values has no cells, a quantile is NULL
