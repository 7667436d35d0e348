SELECT sise, pid FROM 'data/reads.csv'
