SELECT cpu, count(*) AS n, (SELECT count(*) FROM 'reads.jsonl' AS y WHERE y.cpu = s.cpu) AS m FROM 'mixed.jsonl' AS s GROUP BY cpu
