SELECT k, p50(d) AS p FROM 'events.jsonl' GROUP BY k HAVING p50(d) > 2us ORDER BY p50(d) DESC
-- sqlite: SELECT k, qest(d, 0.5, 'exponential(3)') AS p, qlo(d, 0.5, 'exponential(3)') AS p_lo, qhi(d, 0.5, 'exponential(3)') AS p_hi FROM events GROUP BY k HAVING p > 2000 ORDER BY p DESC
