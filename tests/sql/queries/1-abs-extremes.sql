-- check: none, rows by hand
SELECT u, abs(u) AS a, abs(i) AS b, -u AS c FROM 'extremes.jsonl'
