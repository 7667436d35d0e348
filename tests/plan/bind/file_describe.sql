DESCRIBE 'data/reads.csv'
