WITH c(x, y) AS (SELECT pid, tid FROM s) SELECT * FROM c
