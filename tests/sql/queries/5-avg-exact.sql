SELECT avg(u) AS a, sum(u) AS s, count(u) AS c FROM 'extremes.jsonl' WHERE u < 9223372036854775808 AND u > 0
-- check: none, SQLite's sum overflows: (1 + 2^63 - 1) / 2 is 2^62
