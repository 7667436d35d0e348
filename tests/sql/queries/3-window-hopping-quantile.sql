SELECT cpu, quantiles(d, 0.5, 0.9) AS q, histogram(d) AS h FROM 'events.jsonl' GROUP BY cpu WINDOW HOPPING 10s BY 4s ORDER BY cpu
-- sqlite: SELECT cpu, ladder(d, '0.5 0.9', 'exponential(3)') AS q, hist(d, 'log2') AS h FROM events GROUP BY cpu ORDER BY cpu
