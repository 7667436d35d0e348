SELECT cpu, UNNEST(histogram(d)) FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
-- check: unnest
