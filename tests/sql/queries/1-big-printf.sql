-- check: none; printf is SQLite's own, which has no such number
SELECT printf('%d', u) AS digits FROM 'extremes.jsonl'
