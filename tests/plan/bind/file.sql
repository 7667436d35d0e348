SELECT * FROM 'data/reads.csv' WHERE size > 100 AND comm = 'dd'
