-- check: none, by hand: total() is the sum as a REAL, rounded once
SELECT total(u) AS total, group_concat(u, ' ') AS all_of_them, total(u) FILTER (WHERE u < 0) AS nothing
FROM 'extremes.jsonl'
