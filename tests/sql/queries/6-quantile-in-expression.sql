SELECT k, p50(d) / 1us AS us FROM 'events.jsonl' GROUP BY k ORDER BY k
-- sqlite: SELECT k, CAST(qest(d, 0.5, 'exponential(3)') + 0.5 AS INT) / 1000 AS us FROM events GROUP BY k ORDER BY k
