SELECT k, sum(h_count) AS n FROM (SELECT k, UNNEST(histogram(n, linear(-50, 50, 25))) AS h FROM 'events.jsonl' GROUP BY k) WHERE h_lo >= 0 GROUP BY k ORDER BY k
-- sqlite: SELECT k, count(n) AS n FROM events WHERE n >= 0 GROUP BY k ORDER BY k
