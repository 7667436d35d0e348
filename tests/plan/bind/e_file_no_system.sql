SELECT cpu FROM 'data/reads.csv'
