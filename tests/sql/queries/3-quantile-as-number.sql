SELECT count(*) AS above, (SELECT p50(prio) FROM 'begins.jsonl') + 1 AS next, hex((SELECT p50(prio) FROM 'begins.jsonl')) AS digits, round((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY prio) FROM 'begins.jsonl')) IS NOT NULL AS r FROM 'begins.jsonl' WHERE prio > (SELECT p50(prio) FROM 'begins.jsonl')
-- check: none, rows by hand
