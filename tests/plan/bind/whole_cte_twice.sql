WITH c AS (SELECT cpu, count(*) AS n FROM syscall:read GROUP BY cpu) SELECT x.cpu, x.n, y.n FROM c AS x LEFT JOIN c AS y ON x.cpu = y.cpu + 1
