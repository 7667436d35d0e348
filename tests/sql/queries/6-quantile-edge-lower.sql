SET edge = lower;
SELECT p90(d) AS p FROM 'events.jsonl'
-- sqlite: SELECT qlo(d, 0.9, 'exponential(3)') + 1 AS p, qlo(d, 0.9, 'exponential(3)') AS p_lo, qhi(d, 0.9, 'exponential(3)') AS p_hi FROM events
