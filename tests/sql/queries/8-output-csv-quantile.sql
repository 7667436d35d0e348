-- options: -o csv
-- check: none, the bytes of the format; the values are those of 6-quantile
SELECT quantile(d, 0.75) AS q, quantiles(d, 0.5) AS l FROM 'events.jsonl'
