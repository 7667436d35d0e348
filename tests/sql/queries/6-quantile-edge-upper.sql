SELECT p90(d) AS p FROM 'events.jsonl' WITH (edge = 'upper')
-- sqlite: SELECT qhi(d, 0.9, 'exponential(3)') AS p, qlo(d, 0.9, 'exponential(3)') AS p_lo, qhi(d, 0.9, 'exponential(3)') AS p_hi FROM events
