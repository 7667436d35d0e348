SELECT sum(100 / (k - 1)) FILTER (WHERE k <> 1) AS s, max(k <> 1 AND 100 / (k - 1) > 3) AS m, count(DISTINCT 100 / (k - 1)) FILTER (WHERE k > 1) AS c FROM 'mended.csv'
