SELECT histogram(u) AS h FROM 'extremes.jsonl'
-- check: none, as all of u64: two below 2^1 (0 in [0, 1), 1 in [1, 2)), one in [2^62, 2^63), four above
