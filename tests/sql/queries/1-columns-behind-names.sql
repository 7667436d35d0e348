WITH c (n, s) AS (SELECT count(*), sum(nr) FROM 'calls.csv') SELECT c.s, n FROM c, (VALUES (7)) AS v (k) WHERE n > k OR n <= k
