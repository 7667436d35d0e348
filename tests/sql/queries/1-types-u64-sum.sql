-- check: none, as above; the sum is 0 + 1 + (2^63 - 1) + 2^63 + (2^63 + 1) + (2^64 - 2) + (2^64 - 1)
SELECT sum(u) AS s, count(u) AS n FROM 'extremes.jsonl'
