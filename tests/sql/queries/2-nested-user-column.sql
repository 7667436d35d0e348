SELECT z, count(*) AS n FROM (SELECT upper(k) AS z FROM 'mixed.jsonl') AS q WHERE length(z) > 0 GROUP BY z
