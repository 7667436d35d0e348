SELECT cpu, sum(x) OVER (PARTITION BY cpu) AS s FROM (SELECT time, cpu, x, r FROM 'mixed.jsonl') AS q
