-- check: none, rows by hand
SELECT u, sum(u) OVER () AS s FROM 'extremes.jsonl'
