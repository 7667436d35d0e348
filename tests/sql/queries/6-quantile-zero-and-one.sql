SELECT quantile(d, 0) AS least, quantile(d, 1) AS most FROM 'events.jsonl'
-- sqlite: SELECT qest(d, 0, 'exponential(3)') AS least, qlo(d, 0, 'exponential(3)') AS least_lo, qhi(d, 0, 'exponential(3)') AS least_hi, qest(d, 1, 'exponential(3)') AS most, qlo(d, 1, 'exponential(3)') AS most_lo, qhi(d, 1, 'exponential(3)') AS most_hi FROM events
