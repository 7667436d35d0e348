SELECT p50(abs(n)) AS p, max(abs(n)) AS m FROM 'events.jsonl'
-- sqlite: SELECT qest(abs(n), 0.5, 'exponential(3)') AS p, qlo(abs(n), 0.5, 'exponential(3)') AS p_lo, qhi(abs(n), 0.5, 'exponential(3)') AS p_hi, max(abs(n)) AS m FROM events
