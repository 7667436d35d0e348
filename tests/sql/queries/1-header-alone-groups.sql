SELECT count(*) AS n, (SELECT sum(k) FROM 'header.csv' WHERE k > 5) AS s, (SELECT max(name) FROM 'header.csv') AS m FROM 'none.csv'
