SELECT k, stddev(n) AS sd, stddev_samp(n) AS samp, stddev_pop(n) AS pop FROM 'events.jsonl' GROUP BY k ORDER BY k
-- sqlite: SELECT k, sd(n, 1) AS sd, sd(n, 1) AS samp, sd(n, 0) AS pop FROM events GROUP BY k ORDER BY k
