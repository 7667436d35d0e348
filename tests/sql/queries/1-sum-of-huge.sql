SELECT sum(n) FROM 'huge.csv'
