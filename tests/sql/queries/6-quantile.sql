SELECT quantile(d, 0.75) AS q FROM 'events.jsonl'
-- sqlite: SELECT qest(d, 0.75, 'exponential(3)') AS q, qlo(d, 0.75, 'exponential(3)') AS q_lo, qhi(d, 0.75, 'exponential(3)') AS q_hi FROM events
