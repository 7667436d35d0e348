WITH recursive AS (SELECT pid FROM s) SELECT * FROM recursive
