SELECT u, u > 1e19 AS above, u = 9223372036854775808.0 AS same FROM 'mixed.jsonl' WHERE u < 1.8e19
