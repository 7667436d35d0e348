-- check: none; histograms that meet when the rows do
SELECT histogram_merge(u.h) AS h FROM (SELECT histogram(bytes) AS h FROM 'sizes.jsonl' UNION ALL SELECT histogram(bytes, loglinear(3)) FROM 'sizes.jsonl') AS u
