SELECT k, sum(n) * 100 / count(*) AS percent, max(n) - min(n) AS width, printf('%d..%d', min(n), max(n)) AS t FROM 'events.jsonl' GROUP BY k ORDER BY width
