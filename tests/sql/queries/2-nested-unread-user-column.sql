SELECT cpu, sum(x) OVER (PARTITION BY cpu) AS s FROM (SELECT time, cpu, x, upper(k) AS z FROM 'mixed.jsonl') AS q
