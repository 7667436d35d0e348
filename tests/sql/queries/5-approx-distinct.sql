-- check: none, DISTINCT changes nothing
SELECT k, approx_count_distinct(DISTINCT n) = approx_count_distinct(n) AS is_same, approx_count_distinct(DISTINCT s, 14) AS s FROM 'events.jsonl' GROUP BY k ORDER BY k
