SELECT cpu, count(*) AS n FROM (SELECT time, cpu, r FROM 'mixed.jsonl') AS q GROUP BY cpu WINDOW SESSION (GAP 1s)
