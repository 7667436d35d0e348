-- check: none, as above; u / 2^63 is 0 for three rows and 1 for four
SELECT u / 9223372036854775808 AS top, count(*) AS n, min(u) AS lo, max(u) AS hi FROM 'extremes.jsonl' GROUP BY top ORDER BY top
