-- options: -o table
-- check: none, the picture of 6-quantile
SELECT cpu, p75 FROM (SELECT cpu, quantile(d, 0.75) AS p75 FROM 'events.jsonl' GROUP BY cpu) AS x ORDER BY cpu
