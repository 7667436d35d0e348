SELECT str(size) FROM 'data/reads.csv'
