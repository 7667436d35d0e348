SELECT count(*) AS m, min(n) AS lo, p50(n) AS median FROM 'events.jsonl' WHERE pid = 103 AND cpu = 2 WINDOW TUMBLING 2s
-- sqlite: SELECT count(*) AS m, min(n) AS lo, qest(n, 0.5, 'exponential(3)') AS median, qlo(n, 0.5, 'exponential(3)') AS median_lo, qhi(n, 0.5, 'exponential(3)') AS median_hi FROM events WHERE pid = 103 AND cpu = 2
