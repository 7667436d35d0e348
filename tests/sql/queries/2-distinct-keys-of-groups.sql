SELECT DISTINCT k FROM (SELECT k, count(*) AS n FROM 'mixed.jsonl' GROUP BY k, cpu) AS q GROUP BY k ORDER BY k
