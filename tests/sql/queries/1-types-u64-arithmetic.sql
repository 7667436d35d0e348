-- check: none, as above; what fits neither 64 bits signed nor unsigned is NULL and a fault
SELECT u, u + 1 AS more, u - 1 AS less FROM 'extremes.jsonl'
