-- check: none, SQLite makes REAL of an overflow; -2^63 negated and - 2^63 - 1 are faults
SELECT i, -i AS minus, i - 1 AS less, i + 1 AS more FROM 'extremes.jsonl' ORDER BY i
