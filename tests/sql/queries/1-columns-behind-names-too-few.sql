WITH c (n) AS (SELECT count(*), sum(nr) FROM 'calls.csv') SELECT n FROM c
