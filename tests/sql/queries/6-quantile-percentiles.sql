SELECT p50(d) AS p50, p90(d) AS p90, p95(d) AS p95, p99(d) AS p99, p999(d) AS p999 FROM 'events.jsonl'
-- check: percentiles
