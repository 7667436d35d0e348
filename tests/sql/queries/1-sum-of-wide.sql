SELECT sum(wide) FROM 'huge.csv'
