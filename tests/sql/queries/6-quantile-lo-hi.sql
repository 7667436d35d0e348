SELECT k, quantile_lo(d, 0.5) AS lo, quantile_hi(d, 0.5) AS hi FROM 'events.jsonl' GROUP BY k HAVING quantile_hi(d, 0.5) > 1us ORDER BY lo, k
-- sqlite: SELECT k, qlo(d, 0.5, 'exponential(3)') AS lo, qhi(d, 0.5, 'exponential(3)') AS hi FROM events GROUP BY k HAVING hi > 1000 ORDER BY lo, k
