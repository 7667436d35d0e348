SELECT CAST('1 parsec' AS DURATION) FROM 'data/reads.csv'
