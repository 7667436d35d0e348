-- check: none, SQLite's sum overflows: -1 + 0 + 1 + (2^63 - 1) + 5
SELECT sum(i) AS s, count(i) AS n, min(i) AS lo, max(i) AS hi FROM 'extremes.jsonl' WHERE i > -9223372036854775807
