SELECT * FROM 'data/reads.txt'
