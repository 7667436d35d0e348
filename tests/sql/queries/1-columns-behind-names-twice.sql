WITH c (n, N) AS (SELECT count(*), sum(nr) FROM 'calls.csv') SELECT n FROM c
