-- check: none, as above; i < u exactly: all with i <= 0 but the last two, and 1 < 2^63 + 1, 2^63 - 1 < 2^64 - 2
SELECT i, u, i < u AS less, i = u AS same FROM 'extremes.jsonl'
