-- check: none, as above; a function of SQLite has no such number
SELECT round(u) AS r FROM 'extremes.jsonl' WHERE u > 9223372036854775808
