SELECT k, n, ntile(2) OVER (ORDER BY n DESC, k) AS half FROM (SELECT k, count(*) AS n FROM 'mixed.jsonl' GROUP BY k) AS q WINDOW TUMBLING 1s ORDER BY half, k
