-- check: none, the values are SQLite's, but faults are counted: n / 0 of the rows with n
SELECT n / (n - n) AS x, n % 0 AS y FROM 'events.jsonl' LIMIT 3
