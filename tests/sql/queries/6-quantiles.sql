SELECT count, quantiles(latency, 0.5, 0.9, 0.99) AS q FROM 'reads.jsonl' GROUP BY count ORDER BY count
-- sqlite: SELECT count, ladder(latency, '0.5 0.9 0.99', 'exponential(3)') AS q FROM reads GROUP BY count ORDER BY count
