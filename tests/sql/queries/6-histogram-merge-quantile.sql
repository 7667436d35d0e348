SELECT p90(histogram_merge(h)) AS p FROM (SELECT pid, histogram(d, exponential(3)) AS h FROM 'events.jsonl' GROUP BY pid) AS x
-- sqlite: SELECT qest(d, 0.9, 'exponential(3)') AS p, qlo(d, 0.9, 'exponential(3)') AS p_lo, qhi(d, 0.9, 'exponential(3)') AS p_hi FROM events
