SELECT k, count(*) AS m, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent FROM 'events.jsonl' GROUP BY k ORDER BY k
