SELECT approx_count_distinct(k) AS k, approx_count_distinct(pid) AS pid, approx_count_distinct(n, 12) AS n FROM 'events.jsonl'
-- check: approx, of so few values a HyperLogLog of 4096 registers counts exactly, or nearly so
