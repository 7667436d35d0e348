SELECT k, n, sum(n) OVER (PARTITION BY k) AS s FROM (SELECT k, cpu, count(*) AS n FROM 'mixed.jsonl' GROUP BY k, cpu) AS q WHERE n > 1
